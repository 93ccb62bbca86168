// Tensors of runs, between Java and C.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "support.hpp"

namespace vellum::jni {

struct Memory {
  std::byte* values;
  size_t byte_count;
};

// The whole memory of each buffer.
inline std::vector<Memory> memories(JNIEnv* env, jobjectArray buffers, size_t expected) {
  std::vector<Memory> all(static_cast<size_t>(env->GetArrayLength(buffers)));
  if (all.size() != expected)
    throw_vellum(env, VELLUM_INVALID_ARGUMENT, "there are not as many buffers as names");
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
inline Local<jobject> tensor_values_to_java(JNIEnv* env, const vellum_tensor* tensor) {
  vellum_error error;
  vellum_tensor_info info{};
  info.size = sizeof info;
  check(env, vellum_tensor_get_info(tensor, &info, &error), error);
  const Local<jlongArray> shape(env, env->NewLongArray(static_cast<jsize>(info.rank)));
  const std::vector<jlong> shape_values(info.dims, info.dims + info.rank);
  env->SetLongArrayRegion(shape.get(), 0, static_cast<jsize>(shape_values.size()), shape_values.data());
  const Local<jclass> type(env, env->FindClass("io/vellum/Tensor"));
  const jmethodID make = env->GetStaticMethodID(type.get(), "ofType", "(I[J)Lio/vellum/Tensor;");
  check_pending(env);
  Local<jobject> made(
      env, env->CallStaticObjectMethod(type.get(), make, static_cast<jint>(info.dtype), shape.get()));
  check_pending(env);
  const Local<jobject> buffer = JavaObject(env, made.get()).get<jobject>("values", "Ljava/nio/ByteBuffer;");
  std::byte* memory = memory_of(env, buffer.get(), 0, static_cast<jint>(info.byte_size));
  if (info.byte_size) std::memcpy(memory, vellum_tensor_values(tensor), info.byte_size);
  return made;
}

}  // namespace vellum::jni
