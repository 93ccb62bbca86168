// Depthwise separable convolutions in one kernel (shaders/conv/conv_separable.comp).
#pragma once

#include <vector>

#include "cost/fused_layers.hpp"
#include "kernels/conv/window.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The two layers as plain values; `window` is that of the depthwise convolution, or of a max pool in its
// place.
struct SeparableProblem {
  int64_t images = 1;
  int64_t inputs = 1, outputs = 1;  // channels
  Window2d window;
  Precision precision = Precision::fp32;
  bool has_residual = false;
  bool pools = false;  // the first layer is a max pool (PoolConv)

  SeparableDemand demand() const;
};

// Whether the kernel can compute the two layers, whatever the device: those that compute something, with the
// windows that it unrolls.
bool is_separable(const SeparableProblem& problem);
// Returns the tiles with which one kernel should be quicker than two on the device, the quickest first;
// empty: the two layers stay apart.
std::vector<SeparableTile> tiles_of_one_kernel(const SeparableProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
