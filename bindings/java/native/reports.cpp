#include "reports.hpp"

namespace vellum::jni {
namespace {

Local<jobject> object_to_java(JNIEnv* env, const vellum_object_report& report) {
  return make_object(env, "io/vellum/ObjectReport", [&](JavaObject& java) {
    java.set_string("kind", report.kind);
    java.set_string("format", report.format);
    java.set_int("width", static_cast<jint>(report.extent[0]));
    java.set_int("height", static_cast<jint>(report.extent[1]));
    java.set_int("depth", static_cast<jint>(report.extent[2]));
    java.set_long("bytes", report.bytes);
    java.set_int("arena", static_cast<jint>(report.arena));
    java.set_long("arenaOffset", report.arena_offset);
    const std::vector<const char*> names(report.tensors, report.tensors + report.reuse_count);
    const Local<jobjectArray> tensors(env, to_java(env, names));
    java.set("tensors", "[Ljava/lang/String;", tensors.get());
  });
}

}  // namespace

Local<jobject> report_to_java(JNIEnv* env, const vellum_memory_report& report,
                              const std::function<vellum_status(size_t, vellum_object_report*)>& read_object,
                              const vellum_error& error) {
  const Local<jobjectArray> objects(
      env, make_array(env, "io/vellum/ObjectReport", report.object_count, [&](size_t i) {
        vellum_object_report object{};
        object.size = sizeof object;
        check(env, read_object(i, &object), error);
        return object_to_java(env, object);
      }));
  const Local<jlongArray> arenas(env, env->NewLongArray(static_cast<jsize>(report.arena_count)));
  const std::vector<jlong> arena_bytes(report.arenas, report.arenas + report.arena_count);
  env->SetLongArrayRegion(arenas.get(), 0, static_cast<jsize>(arena_bytes.size()), arena_bytes.data());
  return make_object(env, "io/vellum/MemoryReport", [&](JavaObject& java) {
    java.set_long("naiveBytes", report.naive_bytes);
    java.set_long("plannedBytes", report.planned_bytes);
    java.set_long("lowerBoundBytes", report.lower_bound_bytes);
    java.set_long("allocatedBytes", report.allocated_bytes);
    java.set_long("weightsBytes", report.weights_bytes);
    java.set_long("inOutBytes", report.in_out_bytes);
    java.set_long("stateBytes", report.state_bytes);
    java.set_long("streamedWeightsBytes", report.streamed_weights_bytes);
    java.set_int("inFlight", static_cast<jint>(report.in_flight));
    java.set_string("mode", report.mode);
    java.set_string("strategy", report.strategy);
    java.set("arenas", "[J", arenas.get());
    java.set_long("peakWeightsBytes", report.peak_weights_bytes);
    java.set_long("totalWeightsBytes", report.total_weights_bytes);
    java.set_long("memoryBudget", report.memory_budget);
    java.set_long("budgetUsedBytes", report.budget_used_bytes);
    java.set_long("budgetPeakBytes", report.budget_peak_bytes);
    java.set("objects", "[Lio/vellum/ObjectReport;", objects.get());
  });
}

}  // namespace vellum::jni
