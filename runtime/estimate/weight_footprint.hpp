// Memory that the weights of a program take, either all on the device or streamed within a budget.
#pragma once

#include <cstdint>
#include <vector>

#include "estimate/estimate.hpp"
#include "plan/weight_stream.hpp"

namespace vellum {

// Bytes of one arena or several: as allocated, and without padding.
struct Footprint {
  uint64_t allocated = 0, tight = 0;
};

// Tensors that exist as long as the session, each in an object of its own, placed as sessions place them.
Footprint persistent_footprint(const EstimateInputs& inputs, std::vector<TensorId> ids);

struct WeightFootprint : Footprint {
  uint64_t upload_staging = 0;  // during the first upload, when only inputs and outputs exist besides
  uint64_t run_staging = 0;     // from the first run on, if weights are streamed
  uint64_t host = 0;            // packed weights in host memory, as long as the session exists
  // The uses of weights that stream; empty if none does.
  std::vector<WeightUse> uses;
  WeightStreamPlan stream;
};

// Error(out_of_memory) if the weights cannot be streamed within the budget.
WeightFootprint weight_footprint(const EstimateInputs& inputs, const FixedConstants& constants);

}  // namespace vellum
