// Memory that a session takes besides the device memory that it allocates: driver, pipelines, constants of
// the model.
#pragma once

#include <set>

#include "estimate/driver_fit.hpp"
#include "estimate/estimate.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// Fills in `dispatches`, `pipelines`, `use.resident` and `resident`, except for padding and weights on the
// host, which are already there.
void add_host_memory(const EstimateInputs& inputs, MemoryEstimate& estimate);

// Returns what these pipelines are for the driver's compiler. `shaders`: of a bundle, or null.
CompiledWork compiled_work(const std::set<gpu::PipelineKey>& pipelines,
                           const std::shared_ptr<const gpu::CompiledShaders>& shaders);

}  // namespace vellum
