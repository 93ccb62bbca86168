#include "vellum/plan.hpp"

#include "api/guard.hpp"
#include "api/memory_report.hpp"
#include "api/target.hpp"
#include "plan/in_place.hpp"
#include "plan/order.hpp"

namespace vellum {
namespace {

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Target& target) {
  Program program = target.compile(model, options, Stage::program).program;
  UsageRecords usage = usage_records(program);
  OffsetProblem arena = arena_problem(usage, target.memory_rules());
  TensorUsage result;
  for (TensorId id : usage.tensors) result.tensors.push_back(program.tensors[id].name);
  result.object_bytes = object_plan_options(usage, target.memory_rules()).object_bytes;
  result.records = std::move(usage.records);
  result.arena_records = std::move(arena.records);
  result.offset_alignment = arena.alignment;
  disable_in_place(program);
  result.any_order_bound =
      order_with_low_peak(program, target.memory_rules(), options.planning.in_place).bound_bytes;
  return result;
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Target& target) {
  return memory_report(target.compile(model, options, Stage::plan));
}

}  // namespace

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] { return tensor_usage(model, options, Target(device)); });
}

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Caps& caps) {
  return guard([&] { return tensor_usage(model, options, Target(caps)); });
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] { return planned_memory(model, options, Target(device)); });
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Caps& caps) {
  return guard([&] { return planned_memory(model, options, Target(caps)); });
}

}  // namespace vellum
