// The problem of the kernels that multiply matrices in blocks: conv_cooperative.comp,
// conv_bytes_cooperative.comp and conv_block.comp.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"
#include "vellum/options.hpp"

namespace vellum {

// A batch of `products` matrix products: (pixels x inputs) times (inputs x outputs). In a convolution each
// sum has taps * inputs terms.
struct MatrixProblem {
  int64_t pixels = 1, inputs = 1, outputs = 1, taps = 1, products = 1;
  Precision precision = Precision::fp32;
  int64_t row_pixels = 0;  // TileDemand
  // The operands are integers in bytes, which cooperative matrices can multiply (byte_matrices.hpp).
  bool multiplies_bytes = false;
  bool adds_integers = false;  // only tiles whose sums are integers compute it

  int64_t summed() const { return taps * inputs; }
  // Returns whether a step of `step` inputs contains slices of several taps (TAPS_IN_STEP).
  bool mixes_taps(int64_t step) const;
  // Returns the number of steps of `step` inputs.
  int64_t steps(int64_t step) const;
};

// The most taps of a window in these kernels, and the bound of taps * input slices for TAPS_IN_STEP: up to
// there quotient() in tensor.glsl is exact.
inline constexpr int64_t kMostTaps = int64_t{1} << 19;

// Returns the number of multiprocessors of a device: a quarter of its units, as on NVIDIA's GPUs.
double multiprocessors(const DeviceCaps& caps);

}  // namespace vellum
