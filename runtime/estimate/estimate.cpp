#include "estimate/estimate.hpp"

#include <algorithm>

#include "caps/staging.hpp"
#include "estimate/host_memory.hpp"
#include "estimate/weight_footprint.hpp"

namespace vellum {
namespace {

std::vector<TensorId> roots(const Program& program, TensorRole role) {
  std::vector<TensorId> ids;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (program.tensors[id].role == role && program.root(id) == id) ids.push_back(id);
  return ids;
}

bool is_workspace(const SharedObject& object, const Program& program) {
  return std::all_of(object.tensors.begin(), object.tensors.end(),
                     [&](TensorId id) { return program.tensors[id].role == TensorRole::workspace; });
}

// What no intermediate tensor would need: whole objects, or the end of an arena.
uint64_t workspace_bytes(const MemoryPlan& plan, const Program& program) {
  uint64_t bytes = 0;
  if (plan.mode != MemoryMode::offsets) {
    for (const SharedObject& object : plan.objects)
      if (is_workspace(object, program)) bytes += object.bytes;
    return bytes;
  }
  std::vector<uint64_t> ends(plan.arenas.size(), 0);
  for (const SharedObject& object : plan.objects)
    if (!is_workspace(object, program))
      ends[object.place.arena] = std::max(ends[object.place.arena], object.place.offset + object.need.bytes);
  for (size_t i = 0; i < ends.size(); ++i) bytes += plan.arenas[i].bytes - ends[i];
  return bytes;
}

// In an arena of offsets, padding and tensors lie over one another: all of it counts as tensors.
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

// Inputs that the host cannot reach are read one after the other, each through a staging buffer of the size
// of the buffer that holds it. Outputs are written together.
uint64_t host_staging(const HostPartition& partition, const EstimateInputs& in) {
  const Program& program = in.program();
  const MemoryPlan& plan = in.model.plan;
  uint64_t most = 0, written = 0;
  for (const Port& port : partition.inputs) {
    if (port.constant || is_host_visible(program, port.tensor)) continue;
    const uint32_t object = plan.object_of[port.tensor];
    const uint64_t bytes = object == kNoObject
                               ? program.tensors[program.root(port.tensor)].desc.byte_size()
                               : plan.objects[object].bytes;
    most = std::max(most, buffer_bytes(bytes, in.rules));
  }
  for (const TensorId id : partition.outputs) written += staged_bytes(program.tensors[id].desc.byte_size());
  if (!in.caps.unified_memory) most = std::max(most, buffer_bytes(staging_capacity(written), in.rules));
  return most;
}

// At one time in a run.
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

MemoryEstimate estimate_model(const EstimateInputs& in) {
  const Program& program = in.program();
  const MemoryPlan& plan = in.model.plan;
  FixedConstants constants;
  for (const Value& value : in.graph.values)
    if (value.constant) constants.insert(value.constant->data());
  const WeightFootprint weights = weight_footprint(in, constants);
  const Footprint inputs = of_each_run(persistent_footprint(in, roots(program, TensorRole::input)), in);
  const Footprint outputs = of_each_run(persistent_footprint(in, roots(program, TensorRole::output)), in);
  const Footprint planned = of_each_run(planned_footprint(plan), in);
  const uint64_t run_staging = weights.run_staging + host_staging(in);

  MemoryEstimate estimate;
  estimate.use.weights = weights.tight;
  estimate.use.in_out = inputs.tight + outputs.tight;
  estimate.use.workspace = in.in_flight * workspace_bytes(plan, program);
  estimate.use.intermediates = planned.tight - estimate.use.workspace;
  estimate.vulkan.weights = weights.allocated;
  estimate.vulkan.in_out = inputs.allocated + outputs.allocated;
  estimate.vulkan.intermediates = planned.allocated;
  estimate.vulkan.staging = std::max(weights.upload_staging, run_staging);
  const uint64_t lasting = weights.allocated + estimate.vulkan.in_out + planned.allocated;
  // Weights are uploaded when the first run has its inputs and outputs, and nothing else.
  const uint64_t first_in_out = estimate.vulkan.in_out / in.in_flight;
  estimate.vulkan.peak =
      std::max(weights.allocated + first_in_out + weights.upload_staging, lasting + run_staging);
  estimate.use.staging = estimate.vulkan.peak - lasting;
  estimate.warnings = program.warnings;
  estimate.resident.padding = lasting - weights.tight - inputs.tight - outputs.tight - planned.tight;
  estimate.resident.host = weights.host;
  add_host_memory(in, estimate);
  return estimate;
}

}  // namespace vellum
