// Predicts the time of one run of a compiled model.
#pragma once

#include "estimate/estimate.hpp"
#include "estimate/weight_footprint.hpp"

namespace vellum {

// Adds up the predicted times of the dispatches (plan/dispatch_model.hpp) and the time that the device waits
// for streamed weights. Host partitions count as 0.
//
//   copies   | 1 | 2   |        | 3  |          3 replaces 1 in memory,
//   device   .   |  1  |  2     |    |  3  |    so its copy waits until segment 1 has run
PredictedRun predicted_run(const EstimateInputs& inputs, const WeightFootprint& weights);

}  // namespace vellum
