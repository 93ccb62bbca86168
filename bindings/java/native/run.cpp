#include <cstring>
#include <memory>

#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::Local;
using vellum::jni::memory_of;
using vellum::jni::to_dims;
using vellum::jni::to_long;
using vellum::jni::to_strings;
using vellum::jni::to_utf8;

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

// The inputs of a run, with what they point to.
struct Inputs {
  Inputs(JNIEnv* env, jobjectArray java_names, jobjectArray shapes, jobjectArray buffers)
      : names(to_strings(env, java_names)), dims(to_dims(env, shapes)) {
    const std::vector<Memory> memory = memories(env, buffers, names.size());
    for (size_t i = 0; i < memory.size(); ++i)
      values.push_back(
          {names[i].c_str(), memory[i].values, memory[i].byte_count, dims.at(i).data(), dims[i].size()});
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> dims;
  std::vector<vellum_input_values> values;
};

struct DestroyTensor {
  void operator()(vellum_tensor* tensor) const { vellum_tensor_destroy(tensor); }
};

// A Java Tensor with a copy of the values.
Local<jobject> tensor_values_to_java(JNIEnv* env, const vellum_tensor* tensor) {
  vellum_error error;
  vellum_tensor_info info{};
  info.size = sizeof info;
  check(env, vellum_tensor_get_info(tensor, &info, &error), error);
  const Local<jlongArray> shape(env, env->NewLongArray(static_cast<jsize>(info.rank)));
  const std::vector<jlong> shape_values(info.dims, info.dims + info.rank);
  env->SetLongArrayRegion(shape.get(), 0, static_cast<jsize>(shape_values.size()), shape_values.data());
  const Local<jclass> type(env, env->FindClass("io/vellum/Tensor"));
  const jmethodID make = env->GetStaticMethodID(type.get(), "ofType", "(I[J)Lio/vellum/Tensor;");
  vellum::jni::check_pending(env);
  Local<jobject> made(
      env, env->CallStaticObjectMethod(type.get(), make, static_cast<jint>(info.dtype), shape.get()));
  vellum::jni::check_pending(env);
  const Local<jobject> buffer =
      vellum::jni::JavaObject(env, made.get()).get<jobject>("values", "Ljava/nio/ByteBuffer;");
  std::byte* memory = memory_of(env, buffer.get(), 0, static_cast<jint>(info.byte_size));
  if (info.byte_size) std::memcpy(memory, vellum_tensor_values(tensor), info.byte_size);
  return made;
}

}  // namespace

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
