// What the weights of a program take, all of them on the device or streamed within a budget.
#pragma once

#include <cstdint>

#include "estimate/estimate.hpp"

namespace vellum {

// What lies in one arena or several: as allocated, and without padding.
struct Room {
  uint64_t allocated = 0, tight = 0;
};

// Tensors that stay as long as the session, in an object of their own each, as sessions make them.
Room lasting_room(const EstimateInputs& inputs, std::vector<TensorId> ids);

struct WeightRoom : Room {
  uint64_t upload_staging = 0;  // while all are uploaded; of the rest there are inputs and outputs then
  uint64_t run_staging = 0;     // from the first run on, while they stream
  uint64_t host = 0;            // packed, in host memory, as long as the session lives
};

// Error(out_of_memory) where they cannot stream within the budget.
WeightRoom weight_room(const EstimateInputs& inputs, const FixedConstants& constants);

}  // namespace vellum
