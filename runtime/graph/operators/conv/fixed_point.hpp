// Convolutions of quantised models in integers.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operators/elementwise/activation.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// How a convolution of a quantised model computes in integers: x and the weights are integers times these
// scales. Its results are multiply(sum + bias, multipliers) * y_scale.
struct FixedPoint {
  float x_scale = 0.0f, y_scale = 0.0f;
  std::vector<float> w_scale;  // this and what follows: by output channel
  std::vector<int32_t> bias;
  std::vector<FixedMultiplier> multipliers;
  // True: the product is rounded once, to an integer, halves up, as FULLY_CONNECTED of LiteRT 2.3 does.
  // Shifts are at most 0.
  bool rounds_once = false;

  // Returns the integer of output channel `channel` for a sum of products.
  int32_t result(int32_t sum, size_t channel) const;
  // Returns whether results are of this scale: the activation rounds to it what the sums are, or bounds of
  // them.
  bool fits(const Activation& activation, bool has_residual) const;
  // Returns whether sums of `products` products of bytes, with the bias, and their shifts to the left fit in
  // int32. A file may say otherwise; no runtime defines its results then.
  bool fits_int32(int64_t products) const;
  // Returns the fixed point of some output channels.
  FixedPoint of_channels(size_t first, size_t count) const;
};

// Returns the integers that values / scale are.
HostTensor in_integers(const HostTensor& values, const std::vector<float>& scale);
// Does so for the weights of a transposed convolution, (C, M, kernel...), by output channel.
HostTensor transposed_in_integers(const HostTensor& weights, const std::vector<float>& scale);

}  // namespace vellum
