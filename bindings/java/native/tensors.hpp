// Inputs and outputs of models and sessions as Java's TensorInfo.
#pragma once

#include "support.hpp"

namespace vellum::jni {

inline Local<jobject> tensor_to_java(JNIEnv* env, const vellum_tensor_info& info) {
  return make_object(env, "io/vellum/TensorInfo", [&](JavaObject& java) {
    java.set_string("name", info.name);
    java.set_int("type", static_cast<jint>(info.dtype));
    const Local<jlongArray> shape(env, env->NewLongArray(static_cast<jsize>(info.rank)));
    const std::vector<jlong> dims(info.dims, info.dims + info.rank);
    env->SetLongArrayRegion(shape.get(), 0, static_cast<jsize>(dims.size()), dims.data());
    java.set("shape", "[J", shape.get());
    java.set_long("byteSize", info.byte_size);
    java.set_bool("decidesShapes", info.decides_shapes != 0);
    java.set_string("signatureName", info.signature_name);
    if (!info.initial_value) return;
    const auto bytes = static_cast<jsize>(info.byte_size);
    const Local<jbyteArray> initial(env, env->NewByteArray(bytes));
    env->SetByteArrayRegion(initial.get(), 0, bytes, static_cast<const jbyte*>(info.initial_value));
    java.set("initialValue", "[B", initial.get());
  });
}

// read: vellum_model_input() or a function of the same type.
template <typename Handle>
jobjectArray tensors_to_java(JNIEnv* env, const Handle* handle, size_t count,
                             vellum_status (*read)(const Handle*, size_t, vellum_tensor_info*,
                                                   vellum_error*)) {
  return make_array(env, "io/vellum/TensorInfo", count, [&](size_t i) {
    vellum_error error;
    vellum_tensor_info info{};
    info.size = sizeof info;
    check(env, read(handle, i, &info, &error), error);
    return tensor_to_java(env, info);
  });
}

}  // namespace vellum::jni
