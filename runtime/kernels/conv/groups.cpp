#include "kernels/conv/groups.hpp"

#include <string>
#include <utility>

#include "cost/device_traits.hpp"
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

Block block_of(const ConvProblem& problem) {
  Block block{problem.group_inputs(), problem.outputs / problem.groups, 1};
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
bool loads_columns_once(const Block& block, const OutputTile& tile, const Window2d& window) {
  return window.kernel[0] == 3 && window.stride[0] <= 2 && window.dilation[0] == 1 &&
         window.kernel[0] * tile.pixels * block.products() <= kMostProducts;
}

void emit_groups(Lowering& lowering, const ConvProblem& problem, const OutputTile& tile) {
  const Block block = block_of(problem);
  const Window2d& window = problem.window;
  ConvKernel kernel{"conv_groups", {tile}, {}, 0, {}};
  kernel.weights = {problem.inputs, problem.outputs, problem.groups, window.taps(), tile.slices};
  kernel.weights.own_inputs = true;
  kernel.tiles =
      divide_up(problem.width, tile.pixels) * problem.height * kernel.weights.blocks() * problem.images;
  const bool once = loads_columns_once(block, tile, window);
  for (const auto& [macro, number] : {std::pair{"GROUP_INPUTS", block.group_inputs},
                                      {"GROUP_OUTPUTS", block.group_outputs},
                                      {"INPUT_SLICES", block.input_slices()},
                                      {"KERNEL_X", once ? window.kernel[0] : 0},
                                      {"STRIDE_X", once ? window.stride[0] : 0}})
    kernel.defines.emplace_back(macro, std::to_string(number));
  dispatch_conv(lowering, kernel, window, problem.activation, conv_values(lowering, kernel.weights));
}

// Half of what conv.comp takes, or less: it multiplies with the zeros of other groups.
constexpr double kGroupsCost = 0.5;

}  // namespace

std::vector<KernelCandidate> group_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<KernelCandidate> candidates;
  if (problem.groups == 1) return candidates;
  const Block block = block_of(problem);
  if (block.groups == 1 || !is_small(block)) return candidates;
  const int64_t blocks = divide_up(slices(problem.outputs), block.output_slices());
  const int64_t most_sums = device_traits(caps).most_group_sums;
  for (const auto& [size, cost, us] :
       output_tiles(caps, {problem.width, problem.whole_lines() * blocks, 1, 0})) {
    const OutputTile tile{size.pixels, block.output_slices()};
    if (tile.pixels * block.products() > kMostProducts || tile.pixels * tile.slices > most_sums) continue;
    candidates.push_back({tile_name("groups", {tile}), kGroupsCost * cost,
                          [problem, tile](Lowering& lowering) { emit_groups(lowering, problem, tile); }});
  }
  return candidates;
}

}  // namespace vellum
