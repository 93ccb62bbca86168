// Memory that a session takes besides the device memory that it allocates: driver, pipelines, constants of
// the model.
#pragma once

#include "estimate/estimate.hpp"

namespace vellum {

// Fills in `dispatches`, `pipelines`, `use.resident` and `resident`, except for padding and weights on the
// host, which are already there.
void add_host_memory(const EstimateInputs& inputs, MemoryEstimate& estimate);

}  // namespace vellum
