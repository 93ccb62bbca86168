#include "cost/timed_tiles.hpp"

#include <algorithm>
#include <limits>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"

namespace vellum {
namespace {

// Taps of a window if its size is unknown.
constexpr double kSteps = 9;

double texels(const TileDemand& demand) {
  return static_cast<double>(demand.length * demand.lines * demand.slices);
}

// Returns whether at most a quarter of the invocations are idle if workgroups cover rows of pixel blocks.
bool fills_rows(int64_t pixel_blocks) {
  return 4 * pixel_blocks >= 3 * blocks(pixel_blocks, kUniformRow) * kUniformRow;
}

int64_t pixel_blocks_of(const OutputTile& tile, const TileDemand& demand) {
  return blocks(demand.length, tile.pixels) * demand.lines;
}

bool has_uniform_weights(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  return loads_uniform_weights_cheaply(caps, choice.split_k) &&
         fills_rows(pixel_blocks_of(choice.tile, demand));
}

}  // namespace

double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes) {
  const OutputTile& tile = choice.tile;
  const int64_t pixel_blocks = pixel_blocks_of(tile, demand);
  const int64_t slice_blocks = blocks(demand.slices, tile.slices);
  const bool uniform = has_uniform_weights(caps, choice, demand);
  const TileCode code = tile_code(device_traits(caps), tile, uniform, demand.row, demand.multiplies_dots);
  const int64_t rows = uniform ? blocks(pixel_blocks, kUniformRow) * slice_blocks * choice.split_k
                               : blocks(pixel_blocks * slice_blocks, kUniformRow / choice.split_k);
  // A texel of output takes sixteen multiply-accumulates for each texel of input.
  const double partial = texels(demand) * static_cast<double>(choice.split_k);
  const double products = demand.macs > 0 ? static_cast<double>(demand.macs) / (16 * partial) : kSteps;
  int64_t together = demand.row.taps;
  if (demand.loads_ahead) {
    const int64_t most = demand.row.operations > 0 ? device_traits(caps).most_scaled_ahead : 4;
    together = std::min(most, slices_ahead(caps, tile, demand.halves, demand.are_contiguous(tile.pixels)));
  }
  const auto invocations = static_cast<double>(rows * kUniformRow);
  const uint32_t subgroup = subgroup_of_large_kernels(caps);
  const double around = kStepsAround + (choice.split_k > 1 ? kStepsToReduce : 0);
  return dispatch_time(rates, {.macs = invocations * products * code.macs_per_step,
                               .bytes = bytes,
                               .subgroups = invocations / subgroup,
                               .subgroup_size = subgroup,
                               .steps = around + products / static_cast<double>(together),
                               .resident = code.resident})
      .total_us(code.efficiency);
}

namespace {

// A split must take less than this share of the time without a split, because latencies are assumed, not
// measured.
constexpr double kWorthASplit = 0.95;

// Returns whether a tile has too few slices for an x that is scaled, because each texel of x is scaled again
// for each tile. On Adreno a tile of one slice spends a quarter of its instructions on scaling, which the
// model does not know.
bool scales_for_few(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  constexpr int64_t kFew = 4;
  const bool scales = demand.loads_ahead && demand.row.operations > 0;
  return scales && tile.slices < device_traits(caps).least_scaled_slices && demand.slices >= kFew;
}

// Returns whether shared memory can hold the partial sums of a workgroup with split-K. The workgroup has a
// row of 64 invocations for each share of the products, or 64 invocations in total. It may use half of the
// shared memory of AMD's GPUs, so that two workgroups fit.
bool holds_partial_sums(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  constexpr int64_t kTexelBytes = 16, kMostShared = 32 << 10;
  if (choice.split_k == 1) return true;
  const int64_t rows = has_uniform_weights(caps, choice, demand) ? choice.split_k : 1;
  return kTexelBytes * kUniformRow * rows * choice.tile.pixels * choice.tile.slices <=
         std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// The most efficient of equally quick tiles is taken only if a unit still holds this many subgroups. Fewer do
// not hide the latency of loads.
constexpr double kManyResident = 8;

}  // namespace

std::vector<SplitTile> timed_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split) {
  const DeviceRates rates = device_rates(caps);
  std::vector<SplitTile> timed;
  // Splits between powers of four gain little, and each would need pipelines of its own.
  for (int64_t split = 1; split <= most_split; split *= 4)
    for (const int64_t pixels : {1, 2, 4, 8})
      for (const int64_t slices : {1, 2, 4}) {
        SplitTile choice{{pixels, slices}, split};
        const bool wasteful =
            (pixels > 1 && pixels >= 2 * demand.length) || (slices > 1 && slices >= 2 * demand.slices);
        if (wasteful || !holds_sums(caps, choice.tile, demand)) continue;
        if (scales_for_few(caps, choice.tile, demand)) continue;
        if (!holds_partial_sums(caps, choice, demand)) continue;
        choice.us = tile_us(caps, rates, choice, demand);
        timed.push_back(choice);
      }
  return timed;
}

TileCode code_of(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  return tile_code(device_traits(caps), choice.tile, has_uniform_weights(caps, choice, demand), demand.row,
                   demand.multiplies_dots);
}

SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, const std::vector<SplitTile>& timed) {
  SplitTile best;
  double least = std::numeric_limits<double>::infinity();
  for (const SplitTile& choice : timed)
    if (choice.us < (choice.split_k > best.split_k ? kWorthASplit : 1) * least)
      least = choice.us, best = choice;
  for (const SplitTile& choice : timed)
    if (choice.split_k == best.split_k && choice.us < kEquallyFast * least &&
        code_of(caps, choice, demand).resident >= kManyResident &&
        code_of(caps, choice, demand).efficiency > code_of(caps, best, demand).efficiency)
      best = choice;
  return best;
}

SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split) {
  return quickest(caps, demand, timed_tiles(caps, demand, most_split));
}

}  // namespace vellum
