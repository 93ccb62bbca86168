#include "vellum/plan.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "exec/device_tensors.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

MemoryRules memory_rules(const Device* device) {
  return device ? device_rules(device->impl()->context) : modelled_rules(DeviceCaps{});
}

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] {
    const DeviceCaps caps = device ? device->impl()->context->caps() : DeviceCaps{};
    const Program program = make_program(model, caps, options);
    const MemoryRules rules = memory_rules(device);
    UsageRecords usage = usage_records(program);
    OffsetProblem arena = arena_problem(usage, rules);
    TensorUsage result;
    for (TensorId id : usage.tensors) result.tensors.push_back(program.tensors[id].name);
    result.object_bytes = object_plan_options(usage, rules).object_bytes;
    result.records = std::move(usage.records);
    result.arena_records = std::move(arena.records);
    result.offset_alignment = arena.alignment;
    return result;
  });
}

}  // namespace vellum
