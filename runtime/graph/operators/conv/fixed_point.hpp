// The integer arithmetic of convolutions in quantised models.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operators/elementwise/activation.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// x and the weights are integers times x_scale and w_scale. The result is multiply(sum + bias, multiplier) *
// y_scale, where `sum` is the sum of the products of these integers.
struct FixedPoint {
  float x_scale = 0.0f, y_scale = 0.0f;
  // For each output channel:
  std::vector<float> w_scale;
  std::vector<int64_t> bias;
  std::vector<FixedMultiplier> multipliers;
  // True: the product with the multiplier is rounded once, to an integer, ties up, as FULLY_CONNECTED of
  // LiteRT 2.3 does. Then all shifts are at most 0.
  bool rounds_once = false;
  // True: x and the result have integers of 16 bits, and sums 64 bits. The product with the multiplier is
  // rounded once, ties up. Multipliers of LiteRT's convolutions have 15 bits (short_multiplier()).
  bool has_16_bits = false;

  // Returns the integer of output channel `channel` for a sum of products.
  int32_t result(int64_t sum, size_t channel) const;
  // Returns whether the activation rounds results to y_scale: it rounds the sums (with a residual: the sums
  // before the residual is added) to this scale, and otherwise only bounds them.
  bool fits(const Activation& activation, bool has_residual) const;
  // Returns whether sums of `products` products of bytes, plus the bias, and their shifts to the left fit in
  // int32. A file may exceed int32; its results are then undefined in every runtime.
  bool fits_int32(int64_t products) const;
  // Returns whether kernels can compute sums of `products` products of integers of 16 bits with signed bytes,
  // plus the bias, and scale them (has_16_bits).
  bool fits_int64(int64_t products) const;
  // Returns the fixed point of `count` output channels from `first` on.
  FixedPoint of_channels(size_t first, size_t count) const;
};

// Returns the multiplier of 15 bits by which LiteRT's convolutions multiply 64-bit sums.
// MultiplyByQuantizedMultiplier() in tflite/kernels/internal/common.cc.
FixedMultiplier short_multiplier(FixedMultiplier multiplier);

// Returns values / scale as integers. `scale`: one, or one for each output channel (dimension 0).
HostTensor in_integers(const HostTensor& values, const std::vector<float>& scale);
// Returns the weights of a transposed convolution, (C, M, kernel...), as integers. `scale`: for each output
// channel (dimension 1).
HostTensor transposed_in_integers(const HostTensor& weights, const std::vector<float>& scale);

}  // namespace vellum
