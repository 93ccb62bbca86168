// A depthwise convolution and the 1x1 convolution after it in one kernel (shaders/conv/conv_separable.comp):
// a depthwise separable convolution (Howard et al., MobileNets, arXiv 1704.04861, section 3.1). The shader
// also computes a max pool in place of the depthwise convolution (kernels/fused/pool.cpp).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "cost/tiles.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/fused/predicted_time.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes the operator y = pointwise(depthwise(X, W1, B1), W2, B2, residual). B1, B2 and the residual are
// optional.
std::shared_ptr<const FusedNodes> separable_nodes(std::shared_ptr<const Operator> depthwise,
                                                  std::shared_ptr<const Operator> pointwise);

// A depthwise separable convolution: a depthwise convolution of `inputs` slices with a square window, and a
// 1x1 convolution to `outputs` slices. The output has `images` images of width x height pixels.
struct SeparableDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t inputs = 1, outputs = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
};

// A workgroup of conv_separable.comp computes width x height pixels of `slices` output slices. It first
// filters all input slices of these pixels into shared memory. Then each invocation computes one `tile`.
struct SeparableTile {
  int64_t width = 8, height = 4;
  OutputTile tile = {4, 1};  // pixels one after the other, row by row
  int64_t slices = 1;        // a multiple of those of `tile`
  int64_t split_k = 1;       // invocations for each sum
  int64_t ahead = 1;         // input slices whose weights are loaded together

  int64_t pixels() const { return width * height; }
  int64_t invocations() const { return pixels() / tile.pixels * (slices / tile.slices) * split_k; }
  // Returns the bytes of shared memory. The partial sums of split-K reuse the memory of the filtered pixels.
  int64_t shared_bytes(const SeparableDemand& demand) const;
  bool operator==(const SeparableTile&) const = default;
};

// Returns the tiles with which the fused kernel is predicted to take clearly less time than the unfused
// layers. The quickest tile is first. Empty if there is none.
std::vector<TimedTile<SeparableTile>> separable_tiles(const DeviceCaps& caps, const SeparableDemand& demand);

// The two layers as plain values.
struct SeparableProblem {
  int64_t images = 1;
  int64_t inputs = 1, outputs = 1;  // channels
  Window2d window;                  // of the depthwise convolution, or of the max pool
  Precision precision = Precision::fp32;
  bool has_residual = false;
  bool pools = false;                 // the first layer is a max pool
  Activation middle = {}, last = {};  // of the two layers

  SeparableDemand demand() const;
};

// Returns whether the kernel can compute the two layers on some device: the output is not empty, and the
// kernel unrolls the window.
bool is_separable(const SeparableProblem& problem);
// Returns the tiles with which the device should compute the two layers in one kernel, the quickest first.
// Empty if the layers should not be fused.
std::vector<TimedTile<SeparableTile>> tiles_of_one_kernel(const SeparableProblem& problem,
                                                          const DeviceCaps& caps);

// Emits the best candidate: the fused kernel with one of its tiles, or two kernels. The node's input
// `weights` has the weights of the 1x1 convolution; its bias and residual follow. `emit_first` emits the
// first layer as a kernel of its own and returns its result.
void emit_separable(Lowering& lowering, const SeparableProblem& problem, size_t weights,
                    const std::function<TensorId(Lowering&)>& emit_first);

}  // namespace vellum
