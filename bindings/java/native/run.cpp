#include <memory>

#include "run_tensors.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::DestroyTensor;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::Inputs;
using vellum::jni::memories;
using vellum::jni::Memory;
using vellum::jni::tensor_values_to_java;
using vellum::jni::to_long;
using vellum::jni::to_strings;
using vellum::jni::to_utf8;

VELLUM_JNI(jlong, sessionSubmit)
(JNIEnv* env, jclass, jlong session, jobjectArray input_names, jobjectArray input_shapes,
 jobjectArray input_values, jobjectArray output_names, jobjectArray output_values, jboolean wait) {
  return guarded(env, [&] {
    const Inputs inputs(env, input_names, input_shapes, input_values);
    const std::vector<std::string> out_names = to_strings(env, output_names);
    const std::vector<Memory> out = memories(env, output_values, out_names.size());
    std::vector<vellum_output_values> outputs;
    for (size_t i = 0; i < out.size(); ++i)
      outputs.push_back({out_names[i].c_str(), out[i].values, out[i].byte_count});
    vellum_error error;
    vellum_run* run = nullptr;
    const auto submit = wait ? vellum_session_submit : vellum_session_try_submit;
    check(env,
          submit(from_long<vellum_session>(session), inputs.values.data(), inputs.values.size(),
                 outputs.data(), outputs.size(), &run, &error),
          error);
    return to_long(run);
  });
}

VELLUM_JNI(jlong, sessionSubmitAndKeep)
(JNIEnv* env, jclass, jlong session, jobjectArray names, jobjectArray shapes, jobjectArray values,
 jboolean wait) {
  return guarded(env, [&] {
    const Inputs inputs(env, names, shapes, values);
    vellum_error error;
    vellum_run* run = nullptr;
    const auto submit = wait ? vellum_session_submit_and_keep : vellum_session_try_submit_and_keep;
    check(
        env,
        submit(from_long<vellum_session>(session), inputs.values.data(), inputs.values.size(), &run, &error),
        error);
    return to_long(run);
  });
}

VELLUM_JNI(jobject, runOutput)(JNIEnv* env, jclass, jlong run, jstring name) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_tensor* made = nullptr;
    check(env, vellum_run_output(from_long<vellum_run>(run), to_utf8(env, name).c_str(), &made, &error),
          error);
    const std::unique_ptr<vellum_tensor, DestroyTensor> tensor(made);
    return tensor_values_to_java(env, tensor.get()).release();
  });
}

VELLUM_JNI(void, runDestroy)(JNIEnv*, jclass, jlong run) { vellum_run_destroy(from_long<vellum_run>(run)); }

VELLUM_JNI(jboolean, runDone)(JNIEnv* env, jclass, jlong run) {
  return guarded(env, [&]() -> jboolean {
    int32_t done = 0;
    vellum_error error;
    check(env, vellum_run_done(from_long<vellum_run>(run), &done, &error), error);
    return done != 0;
  });
}

VELLUM_JNI(void, runWait)(JNIEnv* env, jclass, jlong run) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_run_wait(from_long<vellum_run>(run), &error), error);
  });
}

VELLUM_JNI(jboolean, runWaitFor)(JNIEnv* env, jclass, jlong run, jint milliseconds) {
  return guarded(env, [&]() -> jboolean {
    int32_t done = 0;
    vellum_error error;
    check(env,
          vellum_run_wait_for(from_long<vellum_run>(run), static_cast<uint32_t>(milliseconds), &done, &error),
          error);
    return done != 0;
  });
}

VELLUM_JNI(void, runCancel)(JNIEnv* env, jclass, jlong run) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_run_cancel(from_long<vellum_run>(run), &error), error);
  });
}
