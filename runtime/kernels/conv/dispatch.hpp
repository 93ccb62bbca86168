// Helpers for the dispatches of convolutions and matrix products.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/conv/tile.hpp"
#include "kernels/conv/weights.hpp"
#include "kernels/conv/window.hpp"
#include "kernels/framework/grid.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Adds the tensor whose texel is added to the sum of each output texel: its binding and RESIDUAL.
void add_residual(Dispatch& dispatch, TensorId residual);
// The shader's field residual_shape; zeros for kNoTensor.
ivec4 residual_shape(const Lowering& lowering, TensorId residual);

// Optional inputs of a convolution: `residual` is added before the activation and may have fewer channels
// than y; `scale` has a factor for each channel of x. `mean`: y has the mean over all pixels
// (kernels/fused/mean.cpp).
struct ConvExtras {
  TensorId residual = kNoTensor, scale = kNoTensor;
  bool mean = false;
};
// Adds their bindings and macros; x has `images`.
void add_extras(Dispatch& dispatch, const ConvExtras& extras, int64_t images);
// The residual of a Conv that has one.
TensorId read_residual(Lowering& lowering);

// Blocks of pixels x blocks of output slices x images, each computed by one tile.
struct BlockCounts {
  int64_t pixels = 1, slices = 1, images = 1;
};
// Sets the grid of a kernel that computes these blocks: a uniform one (UNIFORM_SLICES), in which all
// invocations of a workgroup compute the same slices of the same image, if the device gains by it and few
// invocations would idle, else one of `tiles` in a row. With split-K a tile has several invocations
// (shaders/conv/split_k.glsl). `blocks.pixels` is 0 if the shader does not know UNIFORM_SLICES.
void cover_blocks(Dispatch& dispatch, const DeviceCaps& caps, Storage weights, const InvocationTile& tile,
                  const BlockCounts& blocks, int64_t tiles);

// The common part of conv.comp and conv_transpose.comp.
struct ConvKernel {
  const char* shader;
  InvocationTile tile;
  ConvWeights weights;
  int64_t tiles;                                             // of the whole output
  std::vector<std::pair<std::string, std::string>> defines;  // besides those of tile, activation and tensors
  // Blocks of pixels of an image, if the shader knows UNIFORM_SLICES; else 0.
  int64_t image_blocks = 0;
  bool reads_planes = false;                          // of fewer channels than a texel has
  bool adds_residual = true;                          // input 3 of the node, where there is one
  std::optional<FusedKernelId> fused = std::nullopt;  // Dispatch::fused
};
// For the node's inputs and output; `values` gives the texels of `kernel.weights`.
void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values);

// Weights with blocks of `tile_slices` output slices, or fewer where that would widen the window of input
// slices (it does in groups that are not whole blocks).
ConvWeights conv_weights(const Lowering& lowering, int64_t groups, int64_t taps, int64_t tile_slices);

}  // namespace vellum
