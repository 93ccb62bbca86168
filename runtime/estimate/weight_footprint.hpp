// The memory of a program's weights, either all on the device or streamed within a budget.
#pragma once

#include <cstdint>
#include <vector>

#include "estimate/estimate.hpp"
#include "plan/weight_stream.hpp"

namespace vellum {

// The bytes of one or more arenas: as allocated, and without padding.
struct Footprint {
  uint64_t allocated = 0, tight = 0;
};

// Returns the footprint of tensors that exist as long as the session. Each has its own object, and they are
// placed as sessions place them.
Footprint persistent_footprint(const EstimateInputs& inputs, std::vector<TensorId> ids);

struct WeightFootprint : Footprint {
  uint64_t upload_staging = 0;  // during the first upload, when only inputs and outputs exist besides weights
  uint64_t run_staging = 0;     // during runs, if weights are streamed
  uint64_t host = 0;            // prepacked weights in host memory, as long as the session exists
  // The uses of streamed weights. Empty if none are streamed.
  std::vector<WeightUse> uses;
  WeightStreamPlan stream;
};

// Returns the footprint of the weights. Throws Error(out_of_memory) if they cannot be streamed within the
// budget.
WeightFootprint weight_footprint(const EstimateInputs& inputs, const FixedConstants& constants);

}  // namespace vellum
