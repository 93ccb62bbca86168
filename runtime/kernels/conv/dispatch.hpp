// Helpers for the dispatches of convolutions and matrix products.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/conv/tile.hpp"
#include "kernels/conv/weights.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Adds the tensor whose texel is added to the sum of each output texel: its binding and RESIDUAL.
void add_residual(Dispatch& dispatch, TensorId residual);
// The shader's field residual_shape; zeros for kNoTensor.
ivec4 residual_shape(const Lowering& lowering, TensorId residual);

// Optional inputs of a convolution: `residual` is added before the activation and may have fewer channels
// than y; `scale` has a factor for each channel of x.
struct ConvExtras {
  TensorId residual = kNoTensor, scale = kNoTensor;
};
// Adds their bindings and macros; x has `images`.
void add_extras(Dispatch& dispatch, const ConvExtras& extras, int64_t images);
// The residual of a Conv that has one.
TensorId read_residual(Lowering& lowering);

// The common part of conv.comp and conv_transpose.comp.
struct ConvKernel {
  const char* shader;
  InvocationTile tile;
  ConvWeights weights;
  int64_t invocations;                                       // without those that share sums (split-K)
  std::vector<std::pair<std::string, std::string>> defines;  // besides those of tile, activation and tensors
};
// For the node's inputs and output; `values` gives the texels of `kernel.weights`.
void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values);

// Weights with blocks of `tile_slices` output slices, or fewer where that would widen the window of input
// slices (it does in groups that are not whole blocks).
ConvWeights conv_weights(const Lowering& lowering, int64_t groups, int64_t taps, int64_t tile_slices);

}  // namespace vellum
