// Predicts how long one run of a compiled model takes.
#pragma once

#include "estimate/estimate.hpp"
#include "estimate/weight_footprint.hpp"

namespace vellum {

// Returns milliseconds: the predicted times of the dispatches (plan/dispatch_model.hpp), and what the device
// waits for weights that stream. Host partitions take no time. For comparing ways to run one model on one
// device; the rates are published or assumed, not measured.
//
//   copies   | 1 | 2   |        | 3  |          3 goes where 1 was: it is copied when segment 1 has run
//   device   .   |  1  |  2     |    |  3  |
double predicted_run_ms(const EstimateInputs& inputs, const WeightFootprint& weights);

}  // namespace vellum
