#include "vellum/plan.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Device* device) {
  return guard([&] {
    const DeviceCaps caps = device ? device->impl()->context->caps() : DeviceCaps{};
    const Program program = make_program(model, caps, options);
    UsageRecords usage = usage_records(program);
    TensorUsage result;
    for (TensorId id : usage.tensors) result.tensors.push_back(program.tensors[id].name);
    result.records = std::move(usage.records);
    result.object_alignment = kBufferAlignment;
    result.offset_alignment = caps.min_storage_buffer_offset_alignment;
    return result;
  });
}

}  // namespace vellum
