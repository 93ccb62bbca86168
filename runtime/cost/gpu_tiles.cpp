#include "cost/gpu_tiles.hpp"

#include <algorithm>
#include <limits>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/gpu_registers.hpp"

namespace vellum::gpu_tiles {
namespace {

// Steps of a loop whose length is not known: nine taps.
constexpr double kSteps = 9;

double texels(const TileDemand& demand) {
  return static_cast<double>(demand.length * demand.lines * demand.slices);
}

// Slices of x that are loaded together where they are scaled, for scales are in registers, too.
constexpr int64_t kMostScaledAhead = 2;

// Invocations of a workgroup that compute one block of pixels each, of the same slices (UNIFORM_SLICES), with
// at most a quarter of them idle.
constexpr int64_t kRow = 64;

}  // namespace

uint32_t subgroup_size(const DeviceCaps& caps) { return caps.subgroup_size > 0 ? caps.subgroup_size : 32; }

int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Adreno's compiler halves the subgroups of such kernels.
uint32_t subgroup_of_many_registers(const DeviceCaps& caps) {
  return std::min(subgroup_size(caps), caps.vendor_id == kQualcomm ? 64u : 128u);
}

// AMD's compiler makes scalar loads of what a workgroup loads from one place, Intel's half as many loads.
// Those of Adreno and NVIDIA (Mesa's NVK) load it for each lane and compute more addresses
// (docs/gpu_compilers.md).
//
// Where sums are split, all invocations of a subgroup have the same part if pipelines require full subgroups
// of one size. Only for AMD's compiler are they known to cost nothing: Intel's would have to take the largest
// size, which spills.
bool gains_by_uniform_loads(const DeviceCaps& caps, int64_t split_k) {
  for (const uint32_t vendor : {kNvidia, kQualcomm, kArm, kImagination})
    if (caps.vendor_id == vendor) return false;
  if (split_k == 1) return true;
  constexpr int64_t kMostSubgroups = 32;  // of a workgroup; AMD's GPUs hold 1024 invocations in 16 or 32
  return caps.vendor_id == kAmd && caps.full_subgroups && kRow % subgroup_size(caps) == 0 &&
         kRow * split_k <= kMostSubgroups * subgroup_size(caps) &&
         kRow * split_k <= caps.max_workgroup_invocations && split_k <= caps.max_workgroup_size[1];
}

namespace {

bool fills_rows(int64_t pixel_blocks) { return 4 * pixel_blocks >= 3 * blocks(pixel_blocks, kRow) * kRow; }

int64_t pixel_blocks_of(const OutputTile& tile, const TileDemand& demand) {
  return blocks(demand.length, tile.pixels) * demand.lines;
}

bool has_uniform_weights(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  return gains_by_uniform_loads(caps, choice.split_k) && fills_rows(pixel_blocks_of(choice.tile, demand));
}

}  // namespace

double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes) {
  const OutputTile& tile = choice.tile;
  const int64_t pixel_blocks = pixel_blocks_of(tile, demand);
  const int64_t slice_blocks = blocks(demand.slices, tile.slices);
  const bool uniform = has_uniform_weights(caps, choice, demand);
  const TileCode code = tile_code(caps.vendor_id, tile, uniform, demand.row);
  const int64_t rows = uniform ? blocks(pixel_blocks, kRow) * slice_blocks * choice.split_k
                               : blocks(pixel_blocks * slice_blocks, kRow / choice.split_k);
  // Four channels of a texel of output take four multiply-accumulates for each channel of a texel of input.
  const double partial = texels(demand) * static_cast<double>(choice.split_k);
  const double products = demand.macs > 0 ? static_cast<double>(demand.macs) / (16 * partial) : kSteps;
  int64_t together = demand.row.taps;
  if (demand.loads_ahead) {
    const int64_t most = caps.vendor_id == kQualcomm && demand.row.operations > 0 ? kMostScaledAhead : 4;
    together = std::min(most, loads_ahead(caps, tile, demand.halves, demand.are_neighbours(tile.pixels)));
  }
  const auto invocations = static_cast<double>(rows * kRow);
  const uint32_t subgroup = subgroup_of_many_registers(caps);
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

// Latencies are assumed, not measured: a split must take less than this share of the time without.
constexpr double kWorthASplit = 0.95;

// Whether a tile scales each texel of x for the products of one slice alone: a quarter of its instructions on
// Adreno, where tiles of two slices are as quick by the model.
bool scales_for_few(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  constexpr int64_t kFew = 4;
  const bool scales = demand.loads_ahead && demand.row.operations > 0;
  return caps.vendor_id == kQualcomm && scales && tile.slices == 1 && demand.slices >= kFew;
}

// Whether a workgroup holds its partial sums in shared memory: a texel of each invocation's sums, of a row of
// 64 invocations for each part, or 64 in all. With half of what AMD's GPUs have, two workgroups share it.
bool holds_partial_sums(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  constexpr int64_t kTexelBytes = 16, kMostShared = 32 << 10;
  if (choice.split_k == 1) return true;
  const int64_t rows = has_uniform_weights(caps, choice, demand) ? choice.split_k : 1;
  return kTexelBytes * kRow * rows * choice.tile.pixels * choice.tile.slices <=
         std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// A unit must hold this many subgroups still where the most efficient of equally quick tiles is taken: with
// fewer, waits for loads are not hidden.
constexpr double kManyResident = 8;

}  // namespace

std::vector<SplitTile> timed_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split) {
  const DeviceRates rates = device_rates(caps);
  std::vector<SplitTile> timed;
  // Splits between these gain little, and each has pipelines of its own.
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
  return tile_code(caps.vendor_id, choice.tile, has_uniform_weights(caps, choice, demand), demand.row);
}

SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, const std::vector<SplitTile>& timed) {
  SplitTile best;
  double least = std::numeric_limits<double>::infinity();
  for (const SplitTile& choice : timed)
    if (choice.us < (choice.split_k > best.split_k ? kWorthASplit : 1) * least)
      least = choice.us, best = choice;
  for (const SplitTile& choice : timed)
    if (choice.split_k == best.split_k && choice.us < kAsQuick * least &&
        code_of(caps, choice, demand).resident >= kManyResident &&
        code_of(caps, choice, demand).efficiency > code_of(caps, best, demand).efficiency)
      best = choice;
  return best;
}

SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split) {
  return quickest(caps, demand, timed_tiles(caps, demand, most_split));
}

}  // namespace vellum::gpu_tiles
