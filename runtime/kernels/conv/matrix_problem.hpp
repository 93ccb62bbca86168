// What kernels that multiply matrices in blocks compute: conv_cooperative.comp and conv_block.comp.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"
#include "vellum/options.hpp"

namespace vellum {

// `products` matrix products, pixels x inputs by inputs x outputs. In a convolution each output sums `taps`
// times as many inputs.
struct MatrixProblem {
  int64_t pixels = 1, inputs = 1, outputs = 1, taps = 1, products = 1;
  Precision precision = Precision::fp32;
  int64_t row_pixels = 0;  // TileDemand

  int64_t summed() const { return taps * inputs; }
  // Whether the slices of a step of `step` inputs are those of several taps (TAPS_IN_STEP), and the number of
  // steps.
  bool mixes_taps(int64_t step) const;
  int64_t steps(int64_t step) const;
};

// The most taps of a window whose places these kernels find: up to there quotient() in tensor.glsl is exact.
inline constexpr int64_t kMostTaps = int64_t{1} << 19;

// The multiprocessors of a device, each of four units, as NVIDIA's have.
double multiprocessors(const DeviceCaps& caps);

}  // namespace vellum
