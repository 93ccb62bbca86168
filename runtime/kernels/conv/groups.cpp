#include "kernels/conv/groups.hpp"

#include <algorithm>

#include "caps/device_policy.hpp"
#include "kernels/conv/dispatch.hpp"

namespace vellum {
namespace {

// The fewest groups that begin and end with slices, of inputs and of outputs.
struct Block {
  int64_t group_inputs, group_outputs, groups;

  int64_t input_slices() const { return groups * group_inputs / 4; }
  int64_t output_slices() const { return groups * group_outputs / 4; }
  // Products of texels for each pixel and tap, each a line of code.
  int64_t products() const { return output_slices() * group_inputs; }
};

Block block_of(const Lowering& lowering, int64_t groups) {
  Block block{lowering.input_type(0).shape[1] / groups, lowering.output_type().shape[1] / groups, 1};
  while (block.groups * block.group_inputs % 4 != 0 || block.groups * block.group_outputs % 4 != 0)
    block.groups *= 2;
  return block;
}

// Lines of code: beyond them drivers take long to compile.
constexpr int64_t kMostProducts = 256;

// Whether tiles of four pixels are within that and what registers hold: narrower ones load too much.
bool is_small(const Block& block) {
  return 4 * block.products() <= kMostProducts && block.output_slices() <= 8;
}

// Whether the columns of a row are loaded once for all its taps, which are as many times the lines.
bool loads_columns_once(const Block& block, const ConvTile& tile, const Window2d& window) {
  return window.kernel[0] == 3 && window.stride[0] <= 2 && window.dilation[0] == 1 &&
         window.kernel[0] * tile.pixels * block.products() <= kMostProducts;
}

}  // namespace

std::vector<ConvTile> group_tiles(const Lowering& lowering, int64_t groups) {
  const Block block = block_of(lowering, groups);
  std::vector<ConvTile> tiles;
  if (groups == 1 || block.groups == 1 || !is_small(block)) return tiles;
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const int64_t lines = n * height * divide_up(slices(channels), block.output_slices());
  const int64_t most_sums = device_policy(lowering.caps()).most_group_sums();
  for (const ConvTile& tile : conv_tiles(lowering.caps(), width, lines, 1, 0))
    if (tile.pixels * block.products() <= kMostProducts && tile.pixels * block.output_slices() <= most_sums)
      tiles.push_back({tile.pixels, block.output_slices()});
  return tiles;
}

void lower_groups(Lowering& lowering, const ConvTile& tile, const Window2d& window, int64_t groups,
                  const Activation& activation) {
  const Block block = block_of(lowering, groups);
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  ConvKernel kernel{"conv_groups", tile, {}, 0, {}};
  kernel.weights = {lowering.input_type(0).shape[1], channels, groups, window.taps(), tile.slices};
  kernel.weights.own_inputs = true;
  kernel.invocations = divide_up(width, tile.pixels) * height * kernel.weights.blocks() * n;
  const bool once = loads_columns_once(block, tile, window);
  for (const auto& [macro, number] : {std::pair{"GROUP_INPUTS", block.group_inputs},
                                      {"GROUP_OUTPUTS", block.group_outputs},
                                      {"INPUT_SLICES", block.input_slices()},
                                      {"KERNEL_X", once ? window.kernel[0] : 0},
                                      {"STRIDE_X", once ? window.stride[0] : 0}})
    kernel.defines.emplace_back(macro, std::to_string(number));
  dispatch_conv(lowering, kernel, window, activation, conv_values(lowering, kernel.weights));
}

}  // namespace vellum
