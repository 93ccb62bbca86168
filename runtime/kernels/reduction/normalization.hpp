// The normalisation of the channels of each pixel: shaders/reduction/norm_rows.comp.
#pragma once

#include <cstddef>

#include "graph/operators/elementwise/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct TexelNorm {
  float epsilon = 0;
  bool centred = true;  // false: uses a mean of 0
  Activation activation = {};
};

// Returns the channel_pairs() of the scales, which are constant input `input`, and the biases, which are the
// next input, or zeros if it is omitted.
TensorId norm_factors(Lowering& lowering, size_t input);

// Dispatches y = activation(normalised x) for each pixel of x, all in channels4. `factors`: as `input` of
// norm_factors().
void normalize_pixels(Lowering& lowering, const TexelNorm& norm, size_t factors, TensorId x, TensorId y);

}  // namespace vellum
