// A depthwise convolution and the 1x1 convolution after it in one kernel (shaders/conv/conv_separable.comp):
// a depthwise separable convolution (Howard et al., MobileNets, arXiv 1704.04861, section 3.1). A max pool in
// place of the depthwise convolution is computed by the same shader (kernels/fused/pool.cpp).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cost/fused_layers.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The operator: y = pointwise(depthwise(X, W1, B1), W2, B2, residual). B1, B2 and the residual are optional.
std::shared_ptr<const FusedNodes> separable_nodes(std::shared_ptr<const Operator> depthwise,
                                                  std::shared_ptr<const Operator> pointwise);

// The two layers as plain values; `window` is that of the depthwise convolution, or of the max pool.
struct SeparableProblem {
  int64_t images = 1;
  int64_t inputs = 1, outputs = 1;  // channels
  Window2d window;
  Precision precision = Precision::fp32;
  bool has_residual = false;
  bool pools = false;                 // the first layer is a max pool
  Activation middle = {}, last = {};  // of the two layers

  SeparableDemand demand() const;
};

// Whether the kernel can compute the two layers, whatever the device: those that compute something, with the
// windows that it unrolls.
bool is_separable(const SeparableProblem& problem);
// Returns the tiles with which one kernel should be quicker than two on the device, the quickest first;
// empty: the two layers stay apart.
std::vector<SeparableTile> tiles_of_one_kernel(const SeparableProblem& problem, const DeviceCaps& caps);

// Emits the best candidate. The weights of the 1x1 convolution are input `weights` of the node, followed by
// its bias and residual. `emit_first` emits the first layer as a kernel of its own and returns what it
// computes.
void emit_separable(Lowering& lowering, const SeparableProblem& problem, size_t weights,
                    const std::function<TensorId(Lowering&)>& emit_first);

}  // namespace vellum
