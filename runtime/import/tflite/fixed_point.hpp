// Reads the integer arithmetic with which LiteRT computes convolutions and products of quantised tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/operators/conv/fixed_point.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Returns the multipliers and biases of an operator with inputs x, weights and an optional bias; x and the
// result have 8 bits each, or 16. `channels`: output channels of the weights. Returns null for an operator of
// floats, and if integers would overflow. `multiplies_floats`: the product of the scales is rounded to a
// float. `x_index`, `bias_index`: positions of the inputs. Multipliers have 31 bits; LiteRT's convolutions of
// 16 bits have others (short_multiplier()).
std::shared_ptr<FixedPoint> read_fixed_point(const Call& call, int64_t channels, bool multiplies_floats,
                                             size_t x_index = 0, size_t bias_index = 2);

// Returns the ratio of the multiplier of 15 bits, by which LiteRT multiplies 64-bit sums, to the exact one.
// Returns nothing if it is far from 1. MultiplyByQuantizedMultiplier() in tflite/kernels/internal/common.cc.
std::optional<float> short_multiplier_ratio(double exact);

// Returns that ratio for each output channel of a 16-bit convolution that is computed in floats. Returns
// nothing for other layers, and if the convolution has `fixed`, LiteRT's integers.
std::vector<float> short_multiplier_ratios(const Call& call, const FixedPoint* fixed, int64_t channels,
                                           size_t x_index = 0, size_t bias_index = 2);

}  // namespace vellum::tflite
