// The numbers with which LiteRT computes convolutions and products of quantised tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/operators/conv/fixed_point.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Returns the multipliers and biases of an operator with inputs x, weights and an optional bias, of weights
// for `channels`. Returns null for an operator of floats, and where integers would overflow.
// `multiplies_floats`: the product of the scales is rounded to a float.
std::shared_ptr<const FixedPoint> read_fixed_point(const Call& call, int64_t channels,
                                                   bool multiplies_floats);

}  // namespace vellum::tflite
