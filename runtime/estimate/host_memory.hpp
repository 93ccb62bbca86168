// What a session takes besides the device memory that it allocates: driver, pipelines, constants of the
// model.
#pragma once

#include "estimate/estimate.hpp"

namespace vellum {

// Fills in `dispatches`, `pipelines`, `resident` (its padding and weights on the host are there already) and
// `use.resident`.
void add_host_memory(const EstimateInputs& inputs, MemoryEstimate& estimate);

}  // namespace vellum
