#include "vellum/plan.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/memory_report.hpp"
#include "exec/device_tensors.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {
namespace {

// What planning knows of a device.
struct Target {
  DeviceCaps caps;
  MemoryRules rules;
  std::shared_ptr<const TuningTable> tuning;

  Program program(const Model& model, const SessionOptions& options) const {
    return make_program(model, caps, options, tuning.get());
  }
};

Target target(const Device* device, const SessionOptions& options) {
  if (!device) return {DeviceCaps{}, memory_rules(nullptr), nullptr};
  return {device->impl()->context->caps(), memory_rules(device), device->impl()->tuning_for(options)};
}

Target target(const Caps& caps) { return {caps.impl()->caps, modelled_rules(caps.impl()->caps), nullptr}; }

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Target& on) {
  const Program program = on.program(model, options);
  UsageRecords usage = usage_records(program);
  OffsetProblem arena = arena_problem(usage, on.rules);
  TensorUsage result;
  for (TensorId id : usage.tensors) result.tensors.push_back(program.tensors[id].name);
  result.object_bytes = object_plan_options(usage, on.rules).object_bytes;
  result.records = std::move(usage.records);
  result.arena_records = std::move(arena.records);
  result.offset_alignment = arena.alignment;
  return result;
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Target& on) {
  const Program program = on.program(model, options);
  return memory_report(plan_memory(program, plan_options(options), on.rules), program);
}

}  // namespace

MemoryRules memory_rules(const Device* device) {
  return device ? device_rules(device->impl()->context) : modelled_rules(DeviceCaps{});
}

PlanMemoryOptions plan_options(const SessionOptions& options) {
  return {options.memory, options.strategy, std::chrono::milliseconds(options.search_ms)};
}

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] { return tensor_usage(model, options, target(device, options)); });
}

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Caps& caps) {
  return guard([&] { return tensor_usage(model, options, target(caps)); });
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] { return planned_memory(model, options, target(device, options)); });
}

MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Caps& caps) {
  return guard([&] { return planned_memory(model, options, target(caps)); });
}

}  // namespace vellum
