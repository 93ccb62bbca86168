#include "kernels/conv/direct.hpp"

#include <algorithm>
#include <utility>

#include "cost/device_traits.hpp"
#include "cost/registers.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/dot_products.hpp"
#include "kernels/conv/split_k.hpp"
#include "kernels/conv/subgroup_broadcast.hpp"

namespace vellum {
namespace {

struct DirectKernel {
  // The variant that loads the columns of a row once for all taps. It is used for the common window, unless
  // the network has few such layers, and on GPUs for other windows whose columns fit in registers. It adds up
  // sums in another order, so that all parts of a layer that is split must make the same choice.
  bool loads_rows_once = false;
  InvocationTile tile;

  KernelName name() const {
    KernelName name = tile_name("direct", tile);
    if (loads_rows_once) name.parameters.insert(0, "rows ");
    return name;
  }
};

// Defines the columns of a tile that are not padding for any pixel (INTERIOR_BEGIN, INTERIOR_END), if the
// last tile of a row ends with the row.
void define_sure_columns(ConvKernel& kernel, const Window2d& window) {
  const int64_t pixels = kernel.tile.output.pixels;
  const int64_t columns = (pixels - 1) * window.stride[0] + window.kernel[0];
  const int64_t last_begin = (window.output[0] - pixels) * window.stride[0] - window.padding[0];
  const int64_t begin = window.padding[0], end = std::min(columns, window.input[0] - last_begin);
  if (begin >= end) return;
  if (pixels > 1) kernel.defines.emplace_back("OVERLAP", "1");
  kernel.defines.emplace_back("INTERIOR_BEGIN", std::to_string(begin));
  kernel.defines.emplace_back("INTERIOR_END", std::to_string(end));
}

// Returns whether the last tile of a row begins earlier instead of extending beyond the row. Otherwise the
// sure columns of tiles of several pixels would depend on the length of the row, and each length would need a
// pipeline of its own.
bool overlaps(const DeviceCaps& caps, const Window2d& window, const OutputTile& tile) {
  return window.output[0] >= tile.pixels && device_traits(caps).shifts_last_tile;
}

// Chooses the variant of the loop that the device's compiler keeps in registers.
void define_loop(ConvKernel& kernel, const DeviceCaps& caps, bool loads_rows_once, bool is_unpadded) {
  const DeviceTraits& traits = device_traits(caps);
  if (traits.recompute_positions) kernel.defines.emplace_back("RECOMPUTE_POSITIONS", "1");
  const OutputTile& tile = kernel.tile.output;
  const bool halves = kernel.weights.run.of_halves();
  if (halves && traits.scales_halves_last) {
    kernel.defines.emplace_back("SCALE_LAST", "1");
    if (loads_rows_once && tile.pixels == 8) kernel.defines.emplace_back("RUN_AT_ONCE", "1");
  }
  if (!traits.slices_ahead_in_windows || loads_rows_once || kernel.weights.group_inputs() < 4) return;
  // Columns that may be padding are in registers, too.
  const int64_t ahead = std::min<int64_t>(slices_ahead(caps, tile, halves, false), is_unpadded ? 4 : 2);
  if (ahead > 1) kernel.defines.emplace_back("AHEAD", std::to_string(ahead));
}

void emit_direct(Lowering& lowering, const ConvProblem& problem, const DirectKernel& direct,
                 const FusedConvWeights& fused) {
  const Window2d& window = problem.window;
  const int64_t groups = problem.groups, inputs = problem.group_inputs();
  ConvKernel kernel{"conv", direct.tile, {}, 0, {}};
  OutputTile& tile = kernel.tile.output;
  kernel.weights = conv_weights(lowering, groups, window.taps(), tile.slices);
  tile.slices = kernel.weights.tile_slices;
  kernel.image_blocks = divide_up(problem.width, tile.pixels) * problem.height;
  const int64_t blocks = kernel.image_blocks * problem.images;
  kernel.tiles = whole_subgroups(lowering.caps(), kernel.tile, blocks) * kernel.weights.blocks();
  kernel.defines.emplace_back("KERNEL_X", direct.loads_rows_once ? std::to_string(window.kernel[0]) : "0");
  kernel.defines.emplace_back("STRIDE_X", direct.loads_rows_once ? std::to_string(window.stride[0]) : "0");
  if (inputs >= 4 && !kernel.tile.broadcasts() && !problem.scales_sums && !problem.narrow &&
      should_multiply_halves(lowering))
    kernel.weights.run = direct.loads_rows_once ? ProductRun{1, window.kernel[0]} : kRunOfSlices;
  if (stays_inside(window))
    kernel.defines.emplace_back("UNPADDED", "1");
  else if (direct.loads_rows_once && (tile.pixels == 1 || overlaps(lowering.caps(), window, tile)))
    define_sure_columns(kernel, window);
  if (!kernel.tile.broadcasts())
    define_loop(kernel, lowering.caps(), direct.loads_rows_once, stays_inside(window));
  if (inputs % 4 != 0 && groups > 1) kernel.defines.emplace_back("UNEVEN_WINDOWS", "1");
  if (!kernel.weights.run.of_halves())
    kernel.weights.bytes =
        problem.narrow ? problem.narrow
        : fused.values
            ? fused.bytes(lowering)
            : in_steps(lowering,
                       byte_weights(lowering, 1, !kernel.tile.broadcasts() && kernel.tile.split_k() == 1),
                       problem.activation);
  if (!kernel.tile.broadcasts() && !fused.values)
    kernel.weights.bytes = in_dot_products(lowering, kernel.weights.bytes, problem.products());
  kernel.reads_planes = inputs < 4 && groups == 1 && !multiplies_dots(kernel.weights.bytes);
  if (kernel.reads_planes) kernel.defines.emplace_back("CHANNELS", std::to_string(inputs));
  if (problem.pointwise_outputs > 0) {
    kernel.defines.emplace_back("POINTWISE_SLICES", std::to_string(problem.pointwise_outputs / 4));
    kernel.fused = FusedKernelId::branches;
  }
  kernel.adds_residual = problem.has_residual;
  dispatch_conv(
      lowering, kernel, window, problem.activation,
      fused.values ? fused.values(lowering, kernel.weights) : conv_values(lowering, kernel.weights));
}

// Returns whether a tile of a window that is not the common one can hold the columns of a row in registers.
// With fp16 arithmetic the taps of a row are a run, and the rounding errors of a longer run would be too
// large.
bool holds_columns(const DeviceCaps& caps, const ConvProblem& problem, const OutputTile& tile) {
  const int64_t kernel = problem.window.kernel[0];
  const int64_t columns = (tile.pixels - 1) * problem.window.stride[0] + kernel;
  return kernel > 1 && (kernel <= 4 || problem.group_inputs() < 4) && problem.window.dilation[0] == 1 &&
         columns <= device_traits(caps).most_columns;
}

// Returns the slices of a tile that holds the columns of a row. With more than eleven columns it is one
// slice, because compilers load the weights of all taps early.
int64_t held_slices(const ConvProblem& problem, const OutputTile& tile) {
  constexpr int64_t kFewColumns = 11;
  const int64_t columns = (tile.pixels - 1) * problem.window.stride[0] + problem.window.kernel[0];
  return columns > kFewColumns ? 1 : tile.slices;
}

}  // namespace

std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               const FusedConvWeights& fused) {
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const DirectKernel& kernel, double cost, double us = 0) {
    const auto is_this = [&](const KernelCandidate& other) { return other.name == kernel.name(); };
    if (std::ranges::any_of(candidates, is_this)) return;
    candidates.push_back(
        {kernel.name(), cost,
         [problem, kernel, fused](Lowering& lowering) { emit_direct(lowering, problem, kernel, fused); },
         us});
  };
  const bool common = is_common_window(problem.window, 0);
  const auto rows_once = [&](const OutputTile& tile) {
    // Such a loop would load the scales of each tap anew for each input slice.
    if (problem.narrow && problem.narrow->blocks) return false;
    return common ? problem.has_much_of_common_window : holds_columns(caps, problem, tile);
  };
  TileDemand demand = problem.rows();
  demand.row.operations = problem.whole_stays_inside ? 0 : 1;
  if (common && problem.has_much_of_common_window) demand.row.taps = problem.window.kernel[0];
  demand.loads_ahead = problem.window.kernel[0] == 1 && device_traits(caps).slices_ahead_in_windows;
  std::vector<PricedTile> tiles = output_tiles(caps, demand);
  // A tile must not mix pointwise outputs and other outputs.
  const auto mixes = [&](const OutputTile& tile) {
    return problem.pointwise_outputs % (4 * tile.slices) != 0;
  };
  std::erase_if(tiles, [&](const PricedTile& tile) { return mixes(tile.tile); });
  std::vector<PricedSplitTile> split_sums;
  if (problem.groups == 1 && !problem.exceeds_floats)
    split_sums = split_tiles(tiles, caps, demand, slices(problem.inputs));
  std::erase_if(split_sums, [&](const PricedSplitTile& tile) { return mixes(tile.tile.output); });
  for (const auto& [tile, cost, us] : tiles)
    add({rows_once(tile), {{tile.pixels, rows_once(tile) ? held_slices(problem, tile) : tile.slices}}}, cost,
        us);
  // Only one candidate of the other variant, because compiling it takes as long as compiling this one.
  if (common && !(problem.narrow && problem.narrow->blocks))
    add({!rows_once(tiles.front().tile), {tiles.front().tile}}, kOnlyIfMeasured);
  if (problem.groups != 1) return candidates;
  for (const auto& [tile, cost, us] : split_sums) add({rows_once(tile.output), tile}, cost, us);
  // Only two tiles with broadcast, because the tuner needs a second for each candidate.
  tiles.resize(std::min<size_t>(2, tiles.size()));
  if (problem.inputs >= 4 && problem.pointwise_outputs == 0 && !problem.exceeds_floats && !problem.narrow)
    for (const auto& [tile, cost, us] : tiles_to_broadcast(caps, tiles, demand))
      add({false, {tile, SubgroupBroadcast{}}}, kOnlyIfMeasured * cost);
  return candidates;
}

}  // namespace vellum
