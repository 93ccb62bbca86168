#include "options.hpp"

#include "option_fields.hpp"

namespace vellum::jni {

std::vector<vellum_input_shape> input_shapes(JNIEnv* env, const std::vector<std::string>& names,
                                             const std::vector<std::vector<int64_t>>& dims) {
  if (names.size() != dims.size())
    throw_vellum(env, VELLUM_INVALID_ARGUMENT, "there are not as many shapes as names");
  std::vector<vellum_input_shape> shapes;
  for (size_t i = 0; i < names.size(); ++i)
    shapes.push_back({names[i].c_str(), dims[i].data(), dims[i].size()});
  return shapes;
}

SessionOptions::SessionOptions(JNIEnv* env, jobject options) {
  const JavaObject java(env, options);
  vellum_session_options_init(&options_);
  const OptionReader read(java, texts_);
#define VELLUM_OPTION(kind, name, member, what) read.kind(#name, options_.name);
#include "vellum/session_options.def"
  names_ = to_strings(env, java.get<jobjectArray>("shapeNames", "[Ljava/lang/String;").get());
  dims_ = to_dims(env, java.get<jobjectArray>("shapes", "[[J").get());
  shapes_ = input_shapes(env, names_, dims_);
  options_.input_shapes = shapes_.data();
  options_.input_shape_count = shapes_.size();
  passes_ = to_strings(env, java.get<jobjectArray>("disabledPasses", "[Ljava/lang/String;").get());
  for (const std::string& pass : passes_) pass_pointers_.push_back(pass.c_str());
  options_.disabled_passes = pass_pointers_.data();
  options_.disabled_pass_count = pass_pointers_.size();
  options_.memory_pool = from_long<vellum_memory_pool>(java.get_long("memoryPool"));
  read_values(env, java);
}

void SessionOptions::read_values(JNIEnv* env, const JavaObject& java) {
  value_names_ = to_strings(env, java.get<jobjectArray>("valueNames", "[Ljava/lang/String;").get());
  value_dims_ = to_dims(env, java.get<jobjectArray>("valueShapes", "[[J").get());
  const Local<jintArray> java_types = java.get<jintArray>("valueTypes", "[I");
  std::vector<jint> types(value_names_.size());
  env->GetIntArrayRegion(java_types.get(), 0, static_cast<jsize>(types.size()), types.data());
  check_pending(env);
  const Local<jobjectArray> memory = java.get<jobjectArray>("valueBytes", "[Ljava/nio/ByteBuffer;");
  for (size_t i = 0; i < value_names_.size(); ++i) {
    const Local<jobject> buffer(env, env->GetObjectArrayElement(memory.get(), static_cast<jsize>(i)));
    const auto count = static_cast<jint>(env->GetDirectBufferCapacity(buffer.get()));
    values_.push_back({value_names_[i].c_str(), static_cast<vellum_dtype>(types[i]), value_dims_.at(i).data(),
                       value_dims_[i].size(), memory_of(env, buffer.get(), 0, count),
                       static_cast<size_t>(count)});
  }
  options_.input_values = values_.data();
  options_.input_value_count = values_.size();
}

DeviceOptions::DeviceOptions(JNIEnv* env, jobject options) {
  const JavaObject java(env, options);
  vellum_device_options_init(&options_);
  const OptionReader read(java, texts_);
#define VELLUM_OPTION(kind, name, member, what) read.kind(#name, options_.name);
#include "vellum/device_options.def"
}

LoadLimits::LoadLimits(JNIEnv* env, jobject limits) {
  vellum_load_limits_init(&limits_);
  if (!limits) return;
  const JavaObject java(env, limits);
  const OptionReader read(java, texts_);
#define VELLUM_OPTION(kind, name, member, what) read.kind(#name, limits_.name);
#include "vellum/load_limits.def"
}

TuneOptions::TuneOptions(const JavaObject& java) {
  vellum_tune_options_init(&options_);
  const OptionReader read(java, texts_);
#define VELLUM_OPTION(kind, name, member, what) read.kind(#name, options_.name);
#include "vellum/tune_options.def"
}

}  // namespace vellum::jni

using vellum::jni::guarded;
using vellum::jni::JavaObject;
using vellum::jni::OptionWriter;

VELLUM_JNI(void, deviceDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_device_options defaults;
    vellum_device_options_init(&defaults);
    JavaObject java(env, options);
    OptionWriter write(java);
#define VELLUM_OPTION(kind, name, member, what) write.kind(#name, defaults.name);
#include "vellum/device_options.def"
  });
}

VELLUM_JNI(void, sessionDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_session_options defaults;
    vellum_session_options_init(&defaults);
    JavaObject java(env, options);
    OptionWriter write(java);
#define VELLUM_OPTION(kind, name, member, what) write.kind(#name, defaults.name);
#include "vellum/session_options.def"
  });
}

VELLUM_JNI(void, loadDefaults)(JNIEnv* env, jclass, jobject limits) {
  guarded(env, [&] {
    vellum_load_limits defaults;
    vellum_load_limits_init(&defaults);
    JavaObject java(env, limits);
    OptionWriter write(java);
#define VELLUM_OPTION(kind, name, member, what) write.kind(#name, defaults.name);
#include "vellum/load_limits.def"
  });
}

VELLUM_JNI(void, tuneDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_tune_options defaults;
    vellum_tune_options_init(&defaults);
    JavaObject java(env, options);
    OptionWriter write(java);
#define VELLUM_OPTION(kind, name, member, what) write.kind(#name, defaults.name);
#include "vellum/tune_options.def"
  });
}
