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

// Adds a residual to a dispatch: the binding of a tensor that is added to the sums, and the macro RESIDUAL.
void add_residual(Dispatch& dispatch, TensorId residual);

// Returns the value of the shader's field residual_shape; zeros for kNoTensor.
ivec4 residual_shape(const Lowering& lowering, TensorId residual);

// The normalisation of the channels of each pixel of a 1x1 convolution, whose workgroups compute all slices
// of their pixels (shaders/conv/norm_of_pixels.glsl).
struct PixelNorm {
  float epsilon = 0;
  bool centred = true;
  bool activates_last = false;   // the activation follows the normalisation instead of preceding it
  int64_t pixel_tiles = 1;       // of a workgroup
  TensorId factors = kNoTensor;  // the channel_pairs() of scales and biases
  TensorId layer = kNoTensor;    // output: the pixels before the normalisation
};

// Optional inputs and outputs of a convolution.
struct ConvExtras {
  // residual: added before the activation; may have fewer channels than y. scale: a factor for each channel
  // of x.
  TensorId residual = kNoTensor, scale = kNoTensor;
  Activation scaling = {};                       // Conv::scaling
  bool mean = false;                             // y is the mean over all pixels (kernels/fused/mean.cpp)
  std::optional<PixelNorm> norm = std::nullopt;  // y is normalised (kernels/fused/norm.cpp)
};

// Adds the bindings and macros of residual and scale. `images`: the batch of x.
void add_extras(Dispatch& dispatch, const ConvExtras& extras, int64_t images);

// Returns whether x is in bytes and read four pixels at a time, because all tiles begin at multiples of four
// in rows of `pixels` contiguous pixels.
bool loads_four_pixels(const Lowering& lowering, TensorId x, const OutputTile& tile, int64_t pixels);

// Returns the residual of a Conv (input 3), or kNoTensor.
TensorId read_residual(Lowering& lowering);

// The number of tiles along each axis of a dispatch: blocks of pixels, blocks of output slices, images.
struct BlockCounts {
  int64_t pixels = 1, slices = 1, images = 1;
};
// Sets the grid of a kernel that computes these blocks. In a uniform grid (UNIFORM_SLICES) all invocations of
// a workgroup compute the same slices of the same image. It is used if the device gains by it, few
// invocations would be idle, and the shader knows UNIFORM_SLICES (`blocks.pixels` > 0). Otherwise the grid is
// one row of `tiles`. With split-K a tile has several invocations (shaders/conv/split_k.glsl).
void cover_blocks(Dispatch& dispatch, const DeviceCaps& caps, Storage weights, const InvocationTile& tile,
                  const BlockCounts& blocks, int64_t tiles);

// The common part of conv.comp and conv_transpose.comp.
struct ConvKernel {
  const char* shader;
  InvocationTile tile;
  ConvWeights weights;
  int64_t tiles;  // of the whole output
  // Macros, except those of tile, activation and tensors.
  std::vector<std::pair<std::string, std::string>> defines;
  // Blocks of pixels of an image, if the shader knows UNIFORM_SLICES; else 0.
  int64_t image_blocks = 0;
  bool reads_planes = false;                          // x may be linear: planes of fewer than four channels
  bool adds_residual = true;                          // input 3 of the node, where there is one
  std::optional<FusedKernelId> fused = std::nullopt;  // Dispatch::fused
};
// Dispatches the kernel for the node's inputs and output. `values`: the texels of `kernel.weights`.
void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values);

// Returns the weight layout with blocks of `tile_slices` output slices. The blocks are smaller if such blocks
// would read more input slices, as they do if groups are not whole blocks.
ConvWeights conv_weights(const Lowering& lowering, int64_t groups, int64_t taps, int64_t tile_slices);

}  // namespace vellum
