// How much of the output of a convolution or matrix product one invocation computes (shaders/conv_tile.glsl).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/matmul/cooperative_tile.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// One invocation computes `pixels` x `slices` texels.
struct ConvTile {
  int64_t pixels = 1, slices = 1;
  // The invocations of a subgroup have the same slices, and hand their weights round: conv_pointwise.comp.
  bool by_subgroups = false;
  // Invocations that share each sum over the input channels: sum_parts.comp adds up what they find.
  int64_t parts = 1;
  // A tile of cooperative matrices in its place: conv_cooperative.hpp.
  std::optional<CooperativeTile> cooperative = std::nullopt;

  // Each invocation loads and multiplies for itself.
  bool is_plain() const { return !by_subgroups && !cooperative; }
};

// `lines` lines of `length` pixels are cut into tiles, for `output_slices` slices each; `macs`
// multiply-accumulates in all.
ConvTile choose_conv_tile(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                          int64_t macs);

// It and the others that might be quicker, it first. None is wider than the tensors want.
std::vector<ConvTile> conv_tiles(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                                 int64_t macs);
// Tiles in parts, for windows of so many taps, of what is too small for a GPU: it would leave most of it
// idle, or with tiles as narrow as it then wants load several times as much. The one that should be quickest
// first.
std::vector<ConvTile> tiles_in_parts(const DeviceCaps& caps, int64_t length, int64_t lines,
                                     int64_t output_slices, int64_t input_slices, int64_t taps);
// Those of `tiles` that a subgroup can share where the device's subgroups do, and has work for all of one.
std::vector<ConvTile> tiles_of_subgroups(const DeviceCaps& caps, const std::vector<ConvTile>& tiles,
                                         int64_t length, int64_t lines);
// Adds them to `tiles` for a line of pixels, in front where they are known to be quicker.
void add_tiles_of_subgroups(std::vector<ConvTile>& tiles, const DeviceCaps& caps, int64_t pixels);
// `blocks` of pixels, or as many more as make whole subgroups where the tile wants these.
int64_t whole_subgroups(const DeviceCaps& caps, const ConvTile& tile, int64_t blocks);
// For dispatch_pointwise(): the same, one in parts where the outputs are too few for a GPU, those of them
// that a subgroup can share where the device's subgroups do, and of cooperative matrices.
std::vector<ConvTile> pointwise_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                      int64_t outputs);
// Those of cooperative matrices for convolutions without groups (`inputs` channels), or for so many products,
// in this precision.
std::vector<ConvTile> cooperative_conv_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                             int64_t outputs, int64_t products = 1);
// Adds them to `tiles`, in front where they should be quicker.
void add_cooperative_tiles(std::vector<ConvTile>& tiles, const Lowering& lowering, int64_t pixels,
                           int64_t inputs, int64_t outputs, int64_t products = 1);
// What Lowering::choose() is to know a kernel with that tile as: "direct 8x2".
std::string with_tile(std::string_view kernel, const ConvTile& tile);
// The tile of `tiles` that Lowering::choose() takes for the kernel, which has no rival.
ConvTile choose_tile(Lowering& lowering, std::string_view kernel, const std::vector<ConvTile>& tiles);

// For dispatch_pointwise(); `x` is N, C, ... as nchw() sees it.
ConvTile choose_pointwise_tile(Lowering& lowering, const Shape& x, int64_t outputs);

// Adds the macros TILE_P, TILE_S and PARTS.
void define_tile(Dispatch& dispatch, const ConvTile& tile);

}  // namespace vellum
