#include <memory>

#include "handles.hpp"
#include "options.hpp"
#include "support.hpp"
#include "tensors.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Listener;
using vellum::jni::LoadLimits;
using vellum::jni::make_object;
using vellum::jni::memory_of;
using vellum::jni::SessionOptions;
using vellum::jni::tensors_to_java;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

namespace {

// vellum_release_callback
void release(void* user) {
  const std::unique_ptr<const Listener> listener(static_cast<const Listener*>(user));
  listener->notify([](JNIEnv* env, jclass callbacks, jmethodID method, jobject released) {
    env->CallStaticVoidMethod(callbacks, method, released);
  });
}

}  // namespace

VELLUM_JNI(jlong, modelLoad)
(JNIEnv* env, jclass, jstring file, jobject java_limits, jstring signature) {
  return guarded(env, [&] {
    const LoadLimits limits(env, java_limits);
    vellum_error error;
    vellum_model* model = nullptr;
    check(env,
          vellum_model_load_signature(to_utf8(env, file).c_str(), limits.get(),
                                      signature ? to_utf8(env, signature).c_str() : nullptr, &model, &error),
          error);
    return to_long(model);
  });
}

VELLUM_JNI(jlong, modelLoadBytes)
(JNIEnv* env, jclass, jobject bytes, jint offset, jint count, jobject java_limits, jstring signature) {
  return guarded(env, [&] {
    const LoadLimits limits(env, java_limits);
    const std::byte* memory = memory_of(env, bytes, offset, count);
    vellum_error error;
    vellum_model* model = nullptr;
    check(env,
          vellum_model_load_bytes_signature(memory, static_cast<size_t>(count), limits.get(),
                                            signature ? to_utf8(env, signature).c_str() : nullptr, &model,
                                            &error),
          error);
    return to_long(model);
  });
}

VELLUM_JNI(jlong, modelLend)
(JNIEnv* env, jclass, jobject bytes, jint offset, jint count, jobject java_limits, jobject released) {
  return guarded(env, [&] {
    auto listener = std::make_unique<Listener>(env, released, "run", "(Ljava/lang/Runnable;)V");
    const LoadLimits limits(env, java_limits);
    const std::byte* memory = memory_of(env, bytes, offset, count);
    vellum_error error;
    vellum_model* model = nullptr;
    // The library calls `release` from here on.
    check(env,
          vellum_model_load_borrowed(memory, static_cast<size_t>(count), limits.get(), release,
                                     listener.release(), &model, &error),
          error);
    return to_long(model);
  });
}

VELLUM_JNI(void, modelDestroy)(JNIEnv*, jclass, jlong model) {
  vellum_model_destroy(from_long<vellum_model>(model));
}

VELLUM_JNI(jobjectArray, modelTensors)(JNIEnv* env, jclass, jlong address, jboolean outputs) {
  return guarded(env, [&] {
    const auto* model = from_long<vellum_model>(address);
    return outputs ? tensors_to_java(env, model, vellum_model_output_count(model), vellum_model_output)
                   : tensors_to_java(env, model, vellum_model_input_count(model), vellum_model_input);
  });
}

VELLUM_JNI(jobjectArray, modelSignatures)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* model = from_long<vellum_model>(address);
    std::vector<const char*> names;
    for (size_t i = 0; i < vellum_model_signature_count(model); ++i)
      names.push_back(vellum_model_signature(model, i));
    return vellum::jni::to_java(env, names);
  });
}

VELLUM_JNI(jobject, estimateMemory)
(JNIEnv* env, jclass, jlong model, jobject options, jlong device, jstring caps) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const std::string caps_text = caps ? to_utf8(env, caps) : std::string();
    vellum_error error;
    vellum_memory_estimate estimate{};
    estimate.size = sizeof estimate;
    check(env,
          vellum_estimate_memory(from_long<vellum_model>(model), session.get(),
                                 device ? from_long<JavaDevice>(device)->device : nullptr,
                                 caps ? caps_text.c_str() : nullptr, &estimate, &error),
          error);
    return make_object(env, "io/vellum/MemoryEstimate",
                       [&](JavaObject& java) {
                         java.set_long("weights", estimate.weights);
                         java.set_long("inOut", estimate.in_out);
                         java.set_long("state", estimate.state);
                         java.set_long("intermediates", estimate.intermediates);
                         java.set_long("workspace", estimate.workspace);
                         java.set_long("staging", estimate.staging);
                         java.set_long("resident", estimate.resident);
                         java.set_long("total", estimate.total);
                         java.set_long("totalLeast", estimate.total_least);
                         java.set_long("totalMost", estimate.total_most);
                         java.set_bool("driverKnown", estimate.driver_known != 0);
                         java.set_long("allocatedPeak", estimate.allocated_peak);
                         java.set_long("shapeInferenceTotal", estimate.shape_inference_total);
                         java.set_long("padding", estimate.padding);
                         java.set_long("host", estimate.host);
                         java.set_long("driverCode", estimate.driver_code);
                         java.set_long("pipelineCode", estimate.pipeline_code);
                         java.set_long("allocatedWeights", estimate.allocated_weights);
                         java.set_long("allocatedInOut", estimate.allocated_in_out);
                         java.set_long("allocatedState", estimate.allocated_state);
                         java.set_long("allocatedIntermediates", estimate.allocated_intermediates);
                         java.set_long("allocatedStaging", estimate.allocated_staging);
                         java.set_long("dispatches", estimate.dispatches);
                         java.set_long("pipelines", estimate.pipelines);
                         java.set_double("runMs", estimate.run_ms);
                         java.set_long("streamedBytes", estimate.streamed_bytes);
                       })
        .release();
  });
}
