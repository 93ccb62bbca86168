#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::Local;
using vellum::jni::memory_of;
using vellum::jni::to_dims;
using vellum::jni::to_long;
using vellum::jni::to_strings;

namespace {

struct Memory {
  std::byte* values;
  size_t byte_count;
};

// The whole memory of each buffer.
std::vector<Memory> memories(JNIEnv* env, jobjectArray buffers, size_t expected) {
  std::vector<Memory> all(static_cast<size_t>(env->GetArrayLength(buffers)));
  if (all.size() != expected)
    vellum::jni::throw_vellum(env, VELLUM_INVALID_ARGUMENT, "there are not as many buffers as names");
  for (size_t i = 0; i < all.size(); ++i) {
    const Local<jobject> buffer(env, env->GetObjectArrayElement(buffers, static_cast<jsize>(i)));
    const auto capacity = static_cast<jint>(env->GetDirectBufferCapacity(buffer.get()));
    all[i] = {memory_of(env, buffer.get(), 0, capacity), static_cast<size_t>(capacity)};
  }
  return all;
}

}  // namespace

VELLUM_JNI(jlong, sessionSubmit)
(JNIEnv* env, jclass, jlong session, jobjectArray input_names, jobjectArray input_shapes,
 jobjectArray input_values, jobjectArray output_names, jobjectArray output_values, jboolean wait) {
  return guarded(env, [&] {
    const std::vector<std::string> in_names = to_strings(env, input_names);
    std::vector<std::vector<int64_t>> dims = to_dims(env, input_shapes);
    const std::vector<Memory> in = memories(env, input_values, in_names.size());
    const std::vector<std::string> out_names = to_strings(env, output_names);
    const std::vector<Memory> out = memories(env, output_values, out_names.size());
    std::vector<vellum_input_values> inputs;
    for (size_t i = 0; i < in.size(); ++i)
      inputs.push_back(
          {in_names[i].c_str(), in[i].values, in[i].byte_count, dims.at(i).data(), dims[i].size()});
    std::vector<vellum_output_values> outputs;
    for (size_t i = 0; i < out.size(); ++i)
      outputs.push_back({out_names[i].c_str(), out[i].values, out[i].byte_count});
    vellum_error error;
    vellum_run* run = nullptr;
    const auto submit = wait ? vellum_session_submit : vellum_session_try_submit;
    check(env,
          submit(from_long<vellum_session>(session), inputs.data(), inputs.size(), outputs.data(),
                 outputs.size(), &run, &error),
          error);
    return to_long(run);
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
