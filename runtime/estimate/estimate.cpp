#include "estimate/estimate.hpp"

#include <algorithm>
#include <vector>

#include "estimate/device_footprint.hpp"
#include "estimate/host_memory.hpp"
#include "estimate/run_time.hpp"

namespace vellum {
namespace {

bool is_workspace(const SharedObject& object, const Program& program) {
  return std::all_of(object.tensors.begin(), object.tensors.end(),
                     [&](TensorId id) { return program.tensors[id].role == TensorRole::workspace; });
}

// Returns the bytes that no intermediate tensor uses: whole objects, or the end of an arena.
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

}  // namespace

MemoryEstimate estimate_model(const EstimateInputs& in) {
  const DeviceFootprint device = device_footprint(in);
  MemoryEstimate estimate;
  estimate.vulkan = device.vulkan();
  estimate.use.weights = device.weights.tight;
  estimate.use.in_out = device.inputs.tight + device.outputs.tight;
  estimate.use.state = device.state.tight;
  estimate.use.workspace = in.in_flight * workspace_bytes(in.model.plan, in.program());
  estimate.use.intermediates = device.planned.tight - estimate.use.workspace;
  estimate.use.staging = estimate.vulkan.peak - device.lasting();
  estimate.run = predicted_run(in, device.weights);
  estimate.warnings = in.program().warnings;
  estimate.resident.padding = device.lasting() - estimate.use.weights - estimate.use.in_out -
                              device.state.tight - device.planned.tight;
  estimate.resident.host = device.weights.host;
  add_host_memory(in, estimate);
  return estimate;
}

}  // namespace vellum
