#include <memory>
#include <vector>

#include "handles.hpp"
#include "options.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Listener;
using vellum::jni::Local;
using vellum::jni::make_array;
using vellum::jni::make_object;
using vellum::jni::SessionOptions;

namespace {

// The progress callback of vellum_kernel_check_options.
int32_t kernels_to_java(size_t done, size_t total, void* user) {
  jboolean go_on = JNI_TRUE;
  static_cast<const Listener*>(user)->notify(
      [&](JNIEnv* env, jclass callbacks, jmethodID method, jobject listener) {
        go_on = env->CallStaticBooleanMethod(callbacks, method, listener, static_cast<jlong>(done),
                                             static_cast<jlong>(total));
      });
  return go_on ? 0 : 1;
}

Local<jobject> check_to_java(JNIEnv* env, const vellum_kernel_check& check) {
  return make_object(env, "io/vellum/KernelCheck", [&](JavaObject& java) {
    java.set_string("operation", check.operation);
    java.set_string("kernel", check.kernel);
    java.set_int("precision", check.precision);
    java.set_int("arithmetic", check.arithmetic);
    java.set_int("storage", check.storage);
    java.set_bool("passed", check.passed != 0);
    java.set_double("difference", check.difference);
    java.set_double("bound", check.bound);
    java.set_string("failure", check.failure);
  });
}

struct DestroyChecks {
  void operator()(vellum_kernel_check_list* list) const { vellum_kernel_check_list_destroy(list); }
};

struct DestroyCrashes {
  void operator()(vellum_crash_list* list) const { vellum_crash_list_destroy(list); }
};

// Runs `start`, a check with these options: start(options, list, error).
template <typename Start>
jobjectArray run_check(JNIEnv* env, jobject java_options, Start start) {
  const JavaObject java(env, java_options);
  vellum_kernel_check_options options;
  vellum_kernel_check_options_init(&options);
  bool all_operations = false;
  const std::string only = java.get_string("only", &all_operations);
  if (!all_operations) options.only = only.c_str();
  options.all = java.get_bool("all");
  options.repetitions = static_cast<uint32_t>(java.get_int("repetitions"));
  std::unique_ptr<Listener> listener;
  const Local<jobject> progress = java.get<jobject>("progress", "Lio/vellum/KernelCheckListener;");
  if (progress) {
    listener =
        std::make_unique<Listener>(env, progress.get(), "goOn", "(Lio/vellum/KernelCheckListener;JJ)Z");
    options.progress = kernels_to_java;
    options.progress_user = listener.get();
  }
  vellum_error error;
  vellum_kernel_check_list* made = nullptr;
  check(env, start(&options, &made, &error), error);
  const std::unique_ptr<vellum_kernel_check_list, DestroyChecks> list(made);
  const size_t count = vellum_kernel_check_list_count(list.get());
  return make_array(env, "io/vellum/KernelCheck", count, [&](size_t i) {
    vellum_kernel_check one{};
    one.size = sizeof one;
    check(env, vellum_kernel_check_list_get(list.get(), i, &one, &error), error);
    return check_to_java(env, one);
  });
}

}  // namespace

VELLUM_JNI(jobjectArray, crashes)(JNIEnv* env, jclass, jlong device) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_crash_list* made = nullptr;
    check(env, vellum_get_crashes(from_long<JavaDevice>(device)->device, &made, &error), error);
    const std::unique_ptr<vellum_crash_list, DestroyCrashes> list(made);
    std::vector<const char*> crashes;
    for (size_t i = 0; i < vellum_crash_list_count(list.get()); ++i)
      crashes.push_back(vellum_crash_list_get(list.get(), i));
    return to_java(env, crashes);
  });
}

VELLUM_JNI(void, forgetCrashes)(JNIEnv* env, jclass, jlong device) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_forget_crashes(from_long<JavaDevice>(device)->device, &error), error);
  });
}

VELLUM_JNI(jobjectArray, checkKernels)(JNIEnv* env, jclass, jlong device, jobject options) {
  return guarded(env, [&] {
    return run_check(env, options, [&](const auto* wanted, auto** list, vellum_error* error) {
      return vellum_check_kernels(from_long<JavaDevice>(device)->device, wanted, list, error);
    });
  });
}

VELLUM_JNI(jobjectArray, checkLayers)
(JNIEnv* env, jclass, jlong device, jlong model, jobject options, jobject check_options) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    return run_check(env, check_options, [&](const auto* wanted, auto** list, vellum_error* error) {
      return vellum_check_layers(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model),
                                 session.get(), wanted, list, error);
    });
  });
}
