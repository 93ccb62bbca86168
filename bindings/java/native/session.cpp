#include <algorithm>
#include <memory>

#include "handles.hpp"
#include "options.hpp"
#include "reports.hpp"
#include "support.hpp"
#include "tensors.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::input_shapes;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::make_array;
using vellum::jni::make_object;
using vellum::jni::memory_of;
using vellum::jni::report_to_java;
using vellum::jni::SessionOptions;
using vellum::jni::take_text;
using vellum::jni::tensors_to_java;
using vellum::jni::to_dims;
using vellum::jni::to_java;
using vellum::jni::to_long;
using vellum::jni::to_strings;
using vellum::jni::to_utf8;

VELLUM_JNI(jlong, sessionCreate)(JNIEnv* env, jclass, jlong device, jlong model, jobject options) {
  return guarded(env, [&] {
    const SessionOptions given(env, options);
    vellum_error error;
    vellum_session* session = nullptr;
    check(env,
          vellum_session_create(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model),
                                given.get(), &session, &error),
          error);
    return to_long(session);
  });
}

VELLUM_JNI(void, sessionDestroy)(JNIEnv*, jclass, jlong session) {
  vellum_session_destroy(from_long<vellum_session>(session));
}

VELLUM_JNI(jobjectArray, sessionTensors)(JNIEnv* env, jclass, jlong address, jboolean outputs) {
  return guarded(env, [&] {
    const auto* session = from_long<vellum_session>(address);
    return outputs
               ? tensors_to_java(env, session, vellum_session_output_count(session), vellum_session_output)
               : tensors_to_java(env, session, vellum_session_input_count(session), vellum_session_input);
  });
}

VELLUM_JNI(jobjectArray, sessionWarnings)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* session = from_long<vellum_session>(address);
    std::vector<const char*> warnings;
    for (size_t i = 0; i < vellum_session_warning_count(session); ++i)
      warnings.push_back(vellum_session_warning(session, i));
    return to_java(env, warnings);
  });
}

VELLUM_JNI(void, sessionPrepare)
(JNIEnv* env, jclass, jlong session, jobjectArray java_names, jobjectArray java_shapes) {
  guarded(env, [&] {
    const std::vector<std::string> names = to_strings(env, java_names);
    const std::vector<std::vector<int64_t>> dims = to_dims(env, java_shapes);
    const std::vector<vellum_input_shape> shapes = input_shapes(env, names, dims);
    vellum_error error;
    check(env,
          vellum_session_prepare(from_long<vellum_session>(session), shapes.data(), shapes.size(), &error),
          error);
  });
}

VELLUM_JNI(void, sessionSetInput)
(JNIEnv* env, jclass, jlong address, jstring java_name, jlongArray shape, jobject buffer, jint offset,
 jint count) {
  guarded(env, [&] {
    auto* session = from_long<vellum_session>(address);
    const std::string name = to_utf8(env, java_name);
    const std::byte* values = memory_of(env, buffer, offset, count);
    const auto bytes = static_cast<size_t>(count);
    vellum_error error;
    if (!shape) {
      check(env, vellum_session_set_input(session, name.c_str(), values, bytes, &error), error);
      return;
    }
    std::vector<int64_t> dims = to_dims(env, shape);
    const size_t rank = dims.size();
    dims.push_back(0);  // so that the dimensions of a scalar have an address
    check(env,
          vellum_session_set_input_shaped(session, name.c_str(), dims.data(), rank, values, bytes, &error),
          error);
  });
}

VELLUM_JNI(void, sessionRun)(JNIEnv* env, jclass, jlong session) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_session_run(from_long<vellum_session>(session), &error), error);
  });
}

VELLUM_JNI(void, sessionTrim)(JNIEnv* env, jclass, jlong session, jint level) {
  guarded(env, [&] {
    vellum_error error;
    check(env,
          vellum_session_trim(from_long<vellum_session>(session), static_cast<vellum_trim_level>(level),
                              &error),
          error);
  });
}

VELLUM_JNI(void, sessionGetOutput)
(JNIEnv* env, jclass, jlong session, jstring java_name, jobject buffer, jint offset, jint count) {
  guarded(env, [&] {
    const std::string name = to_utf8(env, java_name);
    std::byte* values = memory_of(env, buffer, offset, count);
    vellum_error error;
    check(env,
          vellum_session_get_output(from_long<vellum_session>(session), name.c_str(), values,
                                    static_cast<size_t>(count), &error),
          error);
  });
}

VELLUM_JNI(jobject, sessionMemory)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* session = from_long<vellum_session>(address);
    vellum_error error;
    vellum_memory_report report{};
    report.size = sizeof report;
    check(env, vellum_session_memory(session, &report, &error), error);
    return report_to_java(
               env, report,
               [&](size_t i, vellum_object_report* object) {
                 return vellum_session_object(session, i, object, &error);
               },
               error)
        .release();
  });
}

VELLUM_JNI(jobjectArray, sessionLayers)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* session = from_long<vellum_session>(address);
    return make_array(env, "io/vellum/LayerTime", vellum_session_layer_count(session), [&](size_t i) {
      vellum_error error;
      vellum_layer_time time{};
      time.size = sizeof time;
      check(env, vellum_session_layer(session, i, &time, &error), error);
      return make_object(env, "io/vellum/LayerTime", [&](JavaObject& java) {
        java.set_string("name", time.name);
        java.set_string("op", time.op);
        java.set_string("shader", time.shader);
        java.set_string("storage", time.storage);
        java.set_double("gpuMs", time.gpu_ms);
        java.set_double("beginMs", time.begin_ms);
        const Local<jintArray> workgroups(env, env->NewIntArray(3));
        env->SetIntArrayRegion(workgroups.get(), 0, 3, reinterpret_cast<const jint*>(time.workgroups));
        java.set("workgroups", "[I", workgroups.get());
      });
    });
  });
}

VELLUM_JNI(jlongArray, sessionCounts)(JNIEnv* env, jclass, jlong session) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_session_counts counts{};
    counts.size = sizeof counts;
    check(env, vellum_session_get_counts(from_long<vellum_session>(session), &counts, &error), error);
    const jlong values[] = {static_cast<jlong>(counts.dispatches), static_cast<jlong>(counts.pipelines),
                            static_cast<jlong>(counts.barriers)};
    Local<jlongArray> array(env, env->NewLongArray(3));
    env->SetLongArrayRegion(array.get(), 0, 3, values);
    return array.release();
  });
}

VELLUM_JNI(jstring, sessionProfile)
(JNIEnv* env, jclass, jlong session, jstring title, jboolean trace, jlong kernels) {
  return guarded(env, [&] {
    const std::string model = to_utf8(env, title);
    vellum_profile_options options;
    vellum_profile_options_init(&options);
    options.model = model.c_str();
    options.kernels = from_long<vellum_kernel_report>(kernels);
    vellum_error error;
    vellum_text* made = nullptr;
    const auto write = trace ? vellum_session_profile_trace : vellum_session_profile_html;
    check(env, write(from_long<vellum_session>(session), &options, &made, &error), error);
    return take_text(env, made).release();
  });
}

VELLUM_JNI(jstring, sessionMemorySvg)(JNIEnv* env, jclass, jlong session, jstring title) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_memory_plan* made = nullptr;
    check(env, vellum_memory_plan_of_session(from_long<vellum_session>(session), &made, &error), error);
    const std::unique_ptr<vellum_memory_plan, decltype(&vellum_memory_plan_destroy)> plan(
        made, vellum_memory_plan_destroy);
    vellum_text* svg = nullptr;
    check(env, vellum_memory_plan_svg(plan.get(), to_utf8(env, title).c_str(), &svg, &error), error);
    return take_text(env, svg).release();
  });
}

VELLUM_JNI(jlong, sessionCreateAsync)(JNIEnv* env, jclass, jlong device, jlong model, jobject options) {
  return guarded(env, [&] {
    const SessionOptions given(env, options);
    vellum_error error;
    vellum_session_creation* creation = nullptr;
    check(env,
          vellum_session_create_async(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model),
                                      given.get(), &creation, &error),
          error);
    return to_long(creation);
  });
}

VELLUM_JNI(void, creationDestroy)(JNIEnv*, jclass, jlong creation) {
  vellum_session_creation_destroy(from_long<vellum_session_creation>(creation));
}

VELLUM_JNI(jlongArray, creationProgress)(JNIEnv* env, jclass, jlong creation) {
  return guarded(env, [&] {
    size_t ready = 0, total = 0;
    vellum_error error;
    check(env,
          vellum_session_creation_progress(from_long<vellum_session_creation>(creation), &ready, &total,
                                           &error),
          error);
    const jlong counts[] = {static_cast<jlong>(ready), static_cast<jlong>(total)};
    Local<jlongArray> array(env, env->NewLongArray(2));
    env->SetLongArrayRegion(array.get(), 0, 2, counts);
    return array.release();
  });
}

VELLUM_JNI(jboolean, creationWaitFor)(JNIEnv* env, jclass, jlong creation, jint milliseconds) {
  return guarded(env, [&]() -> jboolean {
    int32_t done = 0;
    vellum_error error;
    check(env,
          vellum_session_creation_wait_for(from_long<vellum_session_creation>(creation),
                                           static_cast<uint32_t>(milliseconds), &done, &error),
          error);
    return done != 0;
  });
}

VELLUM_JNI(void, creationCancel)(JNIEnv* env, jclass, jlong creation) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_session_creation_cancel(from_long<vellum_session_creation>(creation), &error), error);
  });
}

VELLUM_JNI(jlong, creationGet)(JNIEnv* env, jclass, jlong creation) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_session* session = nullptr;
    check(env, vellum_session_creation_get(from_long<vellum_session_creation>(creation), &session, &error),
          error);
    return to_long(session);
  });
}
