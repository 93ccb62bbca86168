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

// A dispatch of `invocations` in a row, of the shader's bindings x, w, y.
Dispatch conv_dispatch(const Lowering& lowering, std::string shader, int64_t invocations, TensorId x,
                       TensorId w, TensorId y);

// Adds the tensor whose texel is added to the sum of each output texel: RESIDUAL and its binding, the next
// one.
void add_residual(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants, TensorId residual);

// Optional inputs of a convolution: `residual` is added before the activation and may have fewer channels
// than y; `scale` has a factor for each channel of x.
struct ConvExtras {
  TensorId residual = kNoTensor, scale = kNoTensor;
};
// Their bindings and macros, and the residual's push constants; `images` of x.
void add_extras(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants,
                const ConvExtras& extras, int64_t images);
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
