#include "kernels/conv/groups.hpp"

#include <string>
#include <utility>

#include "cost/device_traits.hpp"
#include "kernels/conv/dispatch.hpp"

namespace vellum {
namespace {

// The smallest number of groups whose inputs and outputs are whole slices.
struct Block {
  int64_t group_inputs, group_outputs, groups;

  int64_t input_slices() const { return groups * group_inputs / 4; }
  int64_t output_slices() const { return groups * group_outputs / 4; }
  // Returns the products of texels for each pixel and tap. Each product is a line of shader code.
  int64_t products() const { return output_slices() * group_inputs; }
};

Block block_of(const ConvProblem& problem) {
  Block block{problem.group_inputs(), problem.outputs / problem.groups, 1};
  while (block.groups * block.group_inputs % 4 != 0 || block.groups * block.group_outputs % 4 != 0)
    block.groups *= 2;
  return block;
}

// With more lines of code drivers take long to compile.
constexpr int64_t kMostProducts = 256;

// Returns whether tiles of four pixels stay within this bound and fit in registers. Narrower tiles would load
// too much.
bool is_small(const Block& block) {
  return 4 * block.products() <= kMostProducts && block.output_slices() <= 8;
}

// Returns whether the columns of a row are loaded once for all taps of the row. The code is then as many
// times as long as the row has taps.
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
  kernel.weights.bytes = in_steps(lowering, byte_weights(lowering), problem.activation);
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

// The cost relative to conv.comp, which also multiplies with the zeros of other groups.
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
