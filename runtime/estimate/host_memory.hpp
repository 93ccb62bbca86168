// Memory that a session takes in addition to its allocations from Vulkan: driver, pipelines, constants of the
// model.
#pragma once

#include <set>

#include "estimate/driver_fit.hpp"
#include "estimate/estimate.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// Returns whether the device computes in the host's memory. A discrete GPU whose whole memory is mapped
// (resizable BAR) does not, although its memory is host-visible, too.
inline bool shares_host_memory(const DeviceCaps& caps) {
  return caps.unified_memory && caps.type != DeviceType::discrete_gpu;
}

// Fills in `dispatches`, `pipelines`, `use.resident` and `resident`. Padding and weights on the host must
// already be in the estimate.
void add_host_memory(const EstimateInputs& inputs, MemoryEstimate& estimate);

// Returns the compiler's work for these pipelines. `shaders`: the shaders of a bundle, or null.
CompiledWork compiled_work(const std::set<gpu::PipelineKey>& pipelines,
                           const std::shared_ptr<const gpu::CompiledShaders>& shaders);

}  // namespace vellum
