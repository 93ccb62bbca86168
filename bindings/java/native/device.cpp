#include <algorithm>
#include <iterator>
#include <memory>

#include "handles.hpp"
#include "options.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::DeviceOptions;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Listener;
using vellum::jni::Local;
using vellum::jni::make_array;
using vellum::jni::make_object;
using vellum::jni::SessionOptions;
using vellum::jni::take_text;
using vellum::jni::to_java;
using vellum::jni::to_long;
using vellum::jni::TuneOptions;

namespace {

template <size_t count>
void set_bytes(JNIEnv* env, JavaObject& java, const char* field, const uint8_t (&bytes)[count]) {
  const Local<jbyteArray> array(env, env->NewByteArray(count));
  env->SetByteArrayRegion(array.get(), 0, count, reinterpret_cast<const jbyte*>(bytes));
  java.set(field, "[B", array.get());
}

Local<jobject> info_to_java(JNIEnv* env, const vellum_device_info& info) {
  return make_object(env, "io/vellum/DeviceInfo", [&](JavaObject& java) {
    java.set_string("name", info.name);
    java.set_string("type", info.type);
    java.set_string("driver", info.driver);
    java.set_string("apiVersion", info.api_version);
    set_bytes(env, java, "uuid", info.uuid);
    if (info.luid_known) set_bytes(env, java, "luid", info.luid);
    java.set_int("index", static_cast<jint>(info.index));
    java.set_int("vendorId", static_cast<jint>(info.vendor_id));
    java.set_int("deviceId", static_cast<jint>(info.device_id));
    java.set_bool("fp16Arithmetic", info.fp16_arithmetic != 0);
    java.set_float("timestampPeriodNs", info.timestamp_period_ns);
    java.set_int("subgroupSize", static_cast<jint>(info.subgroup_size));
    java.set_string("preferredStorage", info.preferred_storage);
    java.set_string("cooperativeMatrices", info.cooperative_matrices);
    java.set_int("maxImageDimension2d", static_cast<jint>(info.max_image_dimension_2d));
    java.set_int("maxImageDimension3d", static_cast<jint>(info.max_image_dimension_3d));
    java.set_long("maxStorageBufferRange", info.max_storage_buffer_range);
  });
}

// vellum_log_callback
void log_to_java(vellum_log_level level, const char* message, void* user) {
  static_cast<const Listener*>(user)->notify(
      [&](JNIEnv* env, jclass callbacks, jmethodID method, jobject listener) {
        guarded(env, [&] {
          const Local<jstring> text = to_java(env, message);
          env->CallStaticVoidMethod(callbacks, method, listener, static_cast<jint>(level), text.get());
        });
      });
}

// The progress callback of vellum_tune_options.
void progress_to_java(const char* step, size_t done, size_t total, void* user) {
  static_cast<const Listener*>(user)->notify(
      [&](JNIEnv* env, jclass callbacks, jmethodID method, jobject listener) {
        guarded(env, [&] {
          const Local<jstring> text = to_java(env, step);
          env->CallStaticVoidMethod(callbacks, method, listener, text.get(), static_cast<jlong>(done),
                                    static_cast<jlong>(total));
        });
      });
}

int32_t should_stop_in_java(void* user) {
  bool stop = false;
  static_cast<const Listener*>(user)->notify(
      [&](JNIEnv* env, jclass callbacks, jmethodID method, jobject listener) {
        stop = env->CallStaticBooleanMethod(callbacks, method, listener) != JNI_FALSE;
      });
  return stop;
}

struct DestroyList {
  void operator()(vellum_device_list* list) const { vellum_device_list_destroy(list); }
};

}  // namespace

VELLUM_JNI(jint, version)(JNIEnv*, jclass) { return static_cast<jint>(vellum_version()); }

VELLUM_JNI(jstring, defaultCacheFolder)(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_text* made = nullptr;
    check(env, vellum_default_cache_folder(&made, &error), error);
    return take_text(env, made).release();
  });
}

VELLUM_JNI(jobjectArray, devices)(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_device_list* made = nullptr;
    check(env, vellum_device_list_create(&made, &error), error);
    const std::unique_ptr<vellum_device_list, DestroyList> list(made);
    return make_array(env, "io/vellum/DeviceInfo", vellum_device_list_count(list.get()), [&](size_t i) {
      vellum_device_info info{};
      info.size = sizeof info;
      check(env, vellum_device_list_get(list.get(), i, &info, &error), error);
      return info_to_java(env, info);
    });
  });
}

VELLUM_JNI(jlong, deviceOpen)(JNIEnv* env, jclass, jobject java_options) {
  return guarded(env, [&] {
    const JavaObject java(env, java_options);
    DeviceOptions given(env, java_options);
    vellum_device_options& options = given.get();
    std::unique_ptr<Listener> listener;
    const Local<jobject> log_listener = java.get<jobject>("log", "Lio/vellum/LogListener;");
    if (log_listener) {
      listener = std::make_unique<Listener>(env, log_listener.get(), "log",
                                            "(Lio/vellum/LogListener;ILjava/lang/String;)V");
      options.log = log_to_java;
      options.log_user = listener.get();
    }
    auto opened = std::make_unique<JavaDevice>();
    vellum_error error;
    check(env, vellum_device_open(&options, &opened->device, &error), error);
    opened->log = listener.release();
    return to_long(opened.release());
  });
}

VELLUM_JNI(void, deviceDestroy)(JNIEnv* env, jclass, jlong address) {
  guarded(env, [&] {
    const std::unique_ptr<JavaDevice> device(from_long<JavaDevice>(address));
    vellum_device_destroy(device->device);
    delete device->log;
  });
}

VELLUM_JNI(jobject, deviceInfo)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_device_info info{};
    info.size = sizeof info;
    check(env, vellum_device_get_info(from_long<JavaDevice>(address)->device, &info, &error), error);
    return info_to_java(env, info).release();
  });
}

VELLUM_JNI(jstring, deviceCaps)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_text* made = nullptr;
    check(env, vellum_device_caps(from_long<JavaDevice>(address)->device, &made, &error), error);
    return take_text(env, made).release();
  });
}

VELLUM_JNI(jlong, deviceValidationMessages)(JNIEnv*, jclass, jlong address) {
  return static_cast<jlong>(vellum_device_validation_messages(from_long<JavaDevice>(address)->device));
}

VELLUM_JNI(jobject, tune)
(JNIEnv* env, jclass, jlong device, jlong model, jobject session_options, jobject tune_options) {
  return guarded(env, [&] {
    const SessionOptions session(env, session_options);
    const JavaObject java(env, tune_options);
    TuneOptions given(java);
    vellum_tune_options& options = given.get();
    std::unique_ptr<Listener> progress, should_stop;
    const Local<jobject> listener = java.get<jobject>("progress", "Lio/vellum/TuneListener;");
    if (listener) {
      progress = std::make_unique<Listener>(env, listener.get(), "progress",
                                            "(Lio/vellum/TuneListener;Ljava/lang/String;JJ)V");
      should_stop =
          std::make_unique<Listener>(env, listener.get(), "shouldStop", "(Lio/vellum/TuneListener;)Z");
      options.progress = progress_to_java;
      options.progress_user = progress.get();
      options.should_stop = should_stop_in_java;
      options.should_stop_user = should_stop.get();
    }
    vellum_error error;
    vellum_tune_result result{};
    result.size = sizeof result;
    check(env,
          vellum_tune(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model), session.get(),
                      &options, &result, &error),
          error);
    return make_object(env, "io/vellum/TuneResult",
                       [&](JavaObject& to) {
                         to.set_double("untunedMs", result.untuned_ms);
                         to.set_double("tunedMs", result.tuned_ms);
                         to.set_long("untunedWeightsBytes", result.untuned_weights_bytes);
                         to.set_long("tunedWeightsBytes", result.tuned_weights_bytes);
                         to.set_double("seconds", result.seconds);
                         to.set_bool("complete", result.complete != 0);
                         to.set_bool("kept", result.kept != 0);
                         to.set_string("storage", result.storage);
                         to.set_long("operatorCount", result.operator_count);
                         to.set_long("measuredCount", result.measured_count);
                       })
        .release();
  });
}

VELLUM_JNI(void, forgetTuning)(JNIEnv* env, jclass, jlong device) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_forget_tuning(from_long<JavaDevice>(device)->device, &error), error);
  });
}
