// Reads the integer arithmetic with which LiteRT computes convolutions and products of quantised tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/operators/conv/fixed_point.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Returns the multipliers and biases of an operator with inputs x, weights and an optional bias. `channels`:
// output channels of the weights. Returns null for an operator of floats, and if integers would overflow.
// `multiplies_floats`: the product of the scales is rounded to a float. `x_index`, `bias_index`: positions of
// the inputs.
std::shared_ptr<const FixedPoint> read_fixed_point(const Call& call, int64_t channels, bool multiplies_floats,
                                                   size_t x_index = 0, size_t bias_index = 2);

}  // namespace vellum::tflite
