#include "options.hpp"

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
  options_.precision = static_cast<vellum_precision>(java.get_int("precision"));
  options_.storage = static_cast<vellum_storage>(java.get_int("storage"));
  options_.memory = static_cast<vellum_memory>(java.get_int("memory"));
  bool default_strategy = false;
  strategy_ = java.get_string("strategy", &default_strategy);
  if (!default_strategy) options_.strategy = strategy_.c_str();
  names_ = to_strings(env, java.get<jobjectArray>("shapeNames", "[Ljava/lang/String;").get());
  dims_ = to_dims(env, java.get<jobjectArray>("shapes", "[[J").get());
  shapes_ = input_shapes(env, names_, dims_);
  options_.input_shapes = shapes_.data();
  options_.input_shape_count = shapes_.size();
  options_.tasks_per_submit = static_cast<uint32_t>(java.get_int("tasksPerSubmit"));
  options_.profile = java.get_bool("profile");
  options_.cached_shapes = static_cast<uint32_t>(java.get_int("cachedShapes"));
  options_.search_ms = static_cast<uint32_t>(java.get_int("searchMs"));
  options_.in_place = java.get_bool("inPlace");
  options_.views = java.get_bool("views");
  options_.reorder = java.get_bool("reorder");
  options_.weights_budget = static_cast<uint64_t>(java.get_long("weightsBudget"));
  options_.winograd = static_cast<vellum_winograd>(java.get_int("winograd"));
  options_.in_flight = static_cast<uint32_t>(java.get_int("inFlight"));
  options_.tuned = java.get_bool("tuned");
  options_.arithmetic = static_cast<vellum_arithmetic>(java.get_int("arithmetic"));
  options_.check_finite = java.get_bool("checkFinite");
  passes_ = to_strings(env, java.get<jobjectArray>("disabledPasses", "[Ljava/lang/String;").get());
  for (const std::string& pass : passes_) pass_pointers_.push_back(pass.c_str());
  options_.disabled_passes = pass_pointers_.data();
  options_.disabled_pass_count = pass_pointers_.size();
  options_.memory_pool = from_long<vellum_memory_pool>(java.get_long("memoryPool"));
  options_.memory_budget = static_cast<uint64_t>(java.get_long("memoryBudget"));
  options_.budget_allows_fp16 = java.get_bool("budgetAllowsFp16");
  // -1 in Java is VELLUM_SUBMIT_MS_AUTO.
  options_.max_submit_ms = static_cast<uint32_t>(java.get_int("maxSubmitMs"));
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
  bool no_device = false, no_folder = false;
  device_ = java.get_string("device", &no_device);
  folder_ = java.get_string("cacheFolder", &no_folder);
  if (!no_device) options_.device = device_.c_str();
  if (!no_folder) options_.cache_folder = folder_.c_str();
  options_.validation = java.get_bool("validation");
  options_.android_baseline_2022 = java.get_bool("androidBaseline2022");
  options_.wait_limit_ms = static_cast<uint32_t>(java.get_int("waitLimitMs"));
  options_.queue_priority = java.get_float("queuePriority");
  options_.global_priority = static_cast<vellum_global_priority>(java.get_int("globalPriority"));
  options_.debug_labels = java.get_bool("debugLabels");
  options_.self_check = static_cast<vellum_self_check>(java.get_int("selfCheck"));
}

LoadLimits::LoadLimits(JNIEnv* env, jobject limits) {
  vellum_load_limits_init(&limits_);
  if (!limits) return;
  const JavaObject java(env, limits);
  limits_.nodes = static_cast<uint64_t>(java.get_long("nodes"));
  limits_.elements = static_cast<uint64_t>(java.get_long("elements"));
  limits_.folded_bytes = static_cast<uint64_t>(java.get_long("foldedBytes"));
  limits_.folded_work = static_cast<uint64_t>(java.get_long("foldedWork"));
  limits_.nesting = static_cast<uint32_t>(java.get_int("nesting"));
  limits_.trusts_shaders = java.get_bool("trustsShaders") ? 1 : 0;
  bool no_folder = false;
  links_within_ = java.get_string("linksWithin", &no_folder);
  if (!no_folder) limits_.links_within = links_within_.c_str();
}

}  // namespace vellum::jni

using vellum::jni::guarded;
using vellum::jni::JavaObject;

VELLUM_JNI(void, deviceDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_device_options defaults;
    vellum_device_options_init(&defaults);
    JavaObject java(env, options);
    java.set_int("waitLimitMs", static_cast<jint>(defaults.wait_limit_ms));
    java.set_float("queuePriority", defaults.queue_priority);
    java.set_int("globalPriority", static_cast<jint>(defaults.global_priority));
    java.set_int("selfCheck", static_cast<jint>(defaults.self_check));
  });
}

VELLUM_JNI(void, sessionDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_session_options defaults;
    vellum_session_options_init(&defaults);
    JavaObject java(env, options);
    java.set_int("precision", static_cast<jint>(defaults.precision));
    java.set_int("storage", static_cast<jint>(defaults.storage));
    java.set_int("memory", static_cast<jint>(defaults.memory));
    java.set_int("tasksPerSubmit", static_cast<jint>(defaults.tasks_per_submit));
    java.set_int("cachedShapes", static_cast<jint>(defaults.cached_shapes));
    java.set_int("searchMs", static_cast<jint>(defaults.search_ms));
    java.set_bool("inPlace", defaults.in_place);
    java.set_bool("views", defaults.views);
    java.set_bool("reorder", defaults.reorder);
    java.set_int("winograd", static_cast<jint>(defaults.winograd));
    java.set_int("inFlight", static_cast<jint>(defaults.in_flight));
    java.set_bool("tuned", defaults.tuned);
    java.set_int("arithmetic", static_cast<jint>(defaults.arithmetic));
    java.set_int("maxSubmitMs", static_cast<jint>(defaults.max_submit_ms));
  });
}

VELLUM_JNI(void, loadDefaults)(JNIEnv* env, jclass, jobject limits) {
  guarded(env, [&] {
    vellum_load_limits defaults;
    vellum_load_limits_init(&defaults);
    JavaObject java(env, limits);
    java.set_long("nodes", defaults.nodes);
    java.set_long("elements", defaults.elements);
    java.set_long("foldedBytes", defaults.folded_bytes);
    java.set_long("foldedWork", defaults.folded_work);
    java.set_int("nesting", static_cast<jint>(defaults.nesting));
    java.set_bool("trustsShaders", defaults.trusts_shaders != 0);
  });
}

VELLUM_JNI(void, tuneDefaults)(JNIEnv* env, jclass, jobject options) {
  guarded(env, [&] {
    vellum_tune_options defaults;
    vellum_tune_options_init(&defaults);
    JavaObject java(env, options);
    java.set_double("seconds", defaults.seconds);
    java.set_bool("again", defaults.again);
    java.set_bool("storages", defaults.storages);
  });
}
