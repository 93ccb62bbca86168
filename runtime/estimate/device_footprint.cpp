#include "estimate/device_footprint.hpp"

#include <algorithm>
#include <vector>

#include "vulkan/staging.hpp"

namespace vellum {
namespace {

std::vector<TensorId> roots(const Program& program, TensorRole role) {
  std::vector<TensorId> ids;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (program.tensors[id].role == role && program.root(id) == id) ids.push_back(id);
  return ids;
}

// In mode offsets, padding and tensors overlap in an arena: all bytes count as tensors.
Footprint planned_footprint(const MemoryPlan& plan) {
  Footprint footprint{plan.planned_bytes, plan.planned_bytes};
  if (plan.mode == MemoryMode::offsets) return footprint;
  footprint.tight = 0;
  for (const SharedObject& object : plan.objects) footprint.tight += object.bytes;
  return footprint;
}

Footprint of_each_run(const Footprint& one, const EstimateInputs& in) {
  return {in.in_flight * one.allocated, in.in_flight * one.tight};
}

// Returns the staging bytes of host partitions. Inputs that the host cannot map are read one after the other,
// each through a staging buffer as large as the buffer that holds it. Outputs are written together.
uint64_t host_staging(const HostPartition& partition, const EstimateInputs& in) {
  const Program& program = in.program();
  const MemoryPlan& plan = in.model.plan;
  uint64_t most = 0, written = 0;
  for (const Port& port : partition.inputs) {
    if (port.constant || is_host_visible(program, port.tensor)) continue;
    const uint32_t object = plan.object_of[port.tensor];
    const uint64_t bytes = object == kNoObject ? program.tensors[program.root(port.tensor)].desc.byte_size()
                                               : plan.objects[object].bytes;
    most = std::max(most, buffer_bytes(bytes, in.rules));
  }
  for (const TensorId id : partition.outputs) written += staged_bytes(program.tensors[id].desc.byte_size());
  if (!in.caps.unified_memory) most = std::max(most, buffer_bytes(staging_capacity(written), in.rules));
  return most;
}

// Returns the most staging bytes at one time in a run.
uint64_t host_staging(const EstimateInputs& in) {
  uint64_t most = 0;
  for (const Task& task : in.program().tasks)
    if (task.host) most = std::max(most, host_staging(*task.host, in));
  return most;
}

}  // namespace

uint64_t buffer_bytes(uint64_t bytes, const MemoryRules& rules) {
  return bytes ? rules.need({Storage::buffer, ElementType::f32, {}, bytes}).bytes : 0;
}

DeviceFootprint device_footprint(const EstimateInputs& in) {
  FixedConstants constants;
  for (const Value& value : in.graph.values)
    if (value.constant) constants.insert(value.constant->data());
  const Program& program = in.program();
  DeviceFootprint device;
  device.weights = weight_footprint(in, constants);
  device.inputs = of_each_run(persistent_footprint(in, roots(program, TensorRole::input)), in);
  device.outputs = of_each_run(persistent_footprint(in, roots(program, TensorRole::output)), in);
  device.state = persistent_footprint(in, roots(program, TensorRole::state));
  device.planned = of_each_run(planned_footprint(in.model.plan), in);
  device.run_staging = device.weights.run_staging + host_staging(in);
  device.in_flight = in.in_flight;
  return device;
}

VulkanMemory DeviceFootprint::vulkan() const {
  // When weights are uploaded, only the inputs and outputs of the first run are allocated.
  const uint64_t upload = weights.allocated + in_out() / in_flight + state.allocated + weights.upload_staging;
  return {.weights = weights.allocated,
          .in_out = in_out(),
          .state = state.allocated,
          .intermediates = planned.allocated,
          .staging = std::max(weights.upload_staging, run_staging),
          .peak = std::max(upload, lasting() + run_staging)};
}

uint64_t DeviceFootprint::most() const {
  return std::max(weights.allocated + in_out() + state.allocated + weights.upload_staging,
                  lasting() + run_staging);
}

}  // namespace vellum
