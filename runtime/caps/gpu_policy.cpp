// GPUs, and devices of which no more is known. Nothing here was measured on one yet.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "caps/device_rates.hpp"
#include "caps/dispatch_time.hpp"
#include "caps/gpu_registers.hpp"
#include "caps/policies.hpp"
#include "caps/tile_code.hpp"
#include "caps/vendors.hpp"

namespace vellum {
namespace {

// AMD's and Intel's GPUs reach buffers through the same caches as images, and their compilers take fewer
// instructions for it. Mesa's compiler for NVIDIA takes more: addresses of buffers have 64 bits
// (docs/gpu_compilers.md).
bool prefers_buffers(const DeviceCaps& caps) { return caps.vendor_id == kAmd || caps.vendor_id == kIntel; }

// Steps of a loop whose length is not known: nine taps.
constexpr double kSteps = 9;

double texels(const TileDemand& demand) {
  return static_cast<double>(demand.length * demand.lines * demand.slices);
}

uint32_t subgroup_size(const DeviceCaps& caps) { return caps.subgroup_size > 0 ? caps.subgroup_size : 32; }

int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Invocations of a workgroup that compute one block of pixels each, of the same slices (UNIFORM_SLICES), with
// at most a quarter of them idle.
constexpr int64_t kRow = 64;

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

bool fills_rows(int64_t pixel_blocks) { return 4 * pixel_blocks >= 3 * blocks(pixel_blocks, kRow) * kRow; }

int64_t pixel_blocks_of(const OutputTile& tile, const TileDemand& demand) {
  return blocks(demand.length, tile.pixels) * demand.lines;
}

bool has_uniform_weights(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  return gains_by_uniform_loads(caps, choice.split_k) && fills_rows(pixel_blocks_of(choice.tile, demand));
}

// The predicted time of an operator's dispatch with this tile. Every tile reads and writes the same tensors:
// their bytes matter only where a time is compared with that of another kernel.
double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes = 0) {
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
  const int64_t together = demand.loads_ahead ? loads_ahead(caps, tile, demand.halves) : demand.row.taps;
  const auto invocations = static_cast<double>(rows * kRow);
  // Adreno's compiler halves the subgroups of kernels with this many registers.
  const uint32_t subgroup = std::min(subgroup_size(caps), caps.vendor_id == kQualcomm ? 64u : 128u);
  const double around = kStepsAround + (choice.split_k > 1 ? kStepsToReduce : 0);
  return dispatch_time(rates, {.macs = invocations * products * code.macs_per_step,
                               .bytes = bytes,
                               .subgroups = invocations / subgroup,
                               .subgroup_size = subgroup,
                               .steps = around + products / static_cast<double>(together),
                               .resident = code.resident})
      .total_us(code.efficiency);
}

// Latencies are assumed, not measured: a split must take less than this share of the time without.
constexpr double kWorthASplit = 0.95;

// Whether a workgroup holds its partial sums in shared memory: a texel of each invocation's sums, of a row of
// 64 invocations for each part, or 64 in all. With half of what AMD's GPUs have, two workgroups share it.
bool holds_partial_sums(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  constexpr int64_t kTexelBytes = 16, kMostShared = 32 << 10;
  if (choice.split_k == 1) return true;
  const int64_t rows = has_uniform_weights(caps, choice, demand) ? choice.split_k : 1;
  return kTexelBytes * kRow * rows * choice.tile.pixels * choice.tile.slices <=
         std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Whether a tile scales each texel of x for the products of one slice alone: a quarter of its instructions on
// Adreno, where tiles of two slices are as quick by the model.
bool scales_for_few(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  constexpr int64_t kFew = 4;
  const bool scales = demand.loads_ahead && demand.row.operations > 0;
  return caps.vendor_id == kQualcomm && scales && tile.slices == 1 && demand.slices >= kFew;
}

// The tiles and splits of at most `most_split` that the kernels have, with their predicted times.
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

// The tile with the fewest instructions and loads for its products takes the least power among equally quick
// ones; others that count as equal must have this share of its efficiency. But a unit must hold this many
// subgroups still: with fewer, waits for loads are not hidden.
constexpr double kAsEfficient = 0.95, kManyResident = 8;

TileCode code_of(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand) {
  return tile_code(caps.vendor_id, choice.tile, has_uniform_weights(caps, choice, demand), demand.row);
}

// The quickest of timed_tiles(); of equal ones the most efficient, then the first.
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

// Invocations that keep the device busy: four subgroups for each unit.
double busy_invocations(const DeviceCaps& caps) {
  return 4.0 * device_rates(caps).units * subgroup_size(caps);
}

// The time of a tile of a depthwise convolution relative to others, in slots of an instruction.
double depthwise_cost(const DeviceCaps& caps, const PixelTile& tile, const DepthwiseDemand& demand) {
  const double tiles = static_cast<double>(blocks(demand.width, tile.pixels) *
                                           blocks(demand.height, tile.rows) * demand.planes);
  const int64_t columns = (tile.pixels - 1) * demand.stride_x + demand.kernel;
  const int64_t rows = (tile.rows - 1) * demand.stride_y + demand.kernel;
  const int64_t taps = demand.kernel * demand.kernel;
  const int64_t products = 4 * taps * tile.pixels * tile.rows;
  const int64_t selects = 4 * (demand.kernel - 1) * rows;  // of what may be padding
  const int64_t loads = columns * rows + (gains_by_uniform_loads(caps, 1) ? 0 : taps);
  // A load of four floats takes as long as some eight multiply-adds; the rest finds the tile's place.
  const double slots = static_cast<double>(products + selects + 8 * loads + 60);
  // All loads of a tile are in flight together, so that a subgroup for each unit hides most of them.
  return slots * std::max(tiles, busy_invocations(caps) / 4);
}

// --- Depthwise separable convolutions ---

// Half the instructions of depthwise kernels multiply; a third where every value that they load is checked.
constexpr double kDepthwiseEfficiency = 0.5, kCheckedEfficiency = 0.3;

// Bytes of the tensors of the two layers: x, what the depthwise convolution computes, y, all weights.
struct SeparableBytes {
  double x, middle, y, filters, weights;
};

SeparableBytes bytes_of(const SeparableDemand& demand) {
  const auto texel = static_cast<double>(demand.texel_bytes);
  const double pixels = texel * static_cast<double>(demand.width * demand.height * demand.images);
  const auto inputs = static_cast<double>(demand.inputs), outputs = static_cast<double>(demand.outputs);
  return {.x = pixels * inputs * static_cast<double>(demand.stride_x * demand.stride_y),
          .middle = pixels * inputs,
          .y = pixels * outputs,
          .filters = texel * inputs * static_cast<double>(demand.kernel * demand.kernel + 1),
          .weights = texel * (4 * inputs + 1) * outputs};
}

// The predicted time of the two layers as two dispatches.
double apart_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableDemand& demand) {
  const SeparableBytes bytes = bytes_of(demand);
  const int64_t pixels = demand.width * demand.height * demand.images;
  const TileDemand product{pixels, 1, demand.outputs, 16 * pixels * demand.inputs * demand.outputs, {}, true};
  const SplitTile tile = quickest(caps, product, std::min<int64_t>(demand.inputs, 16));
  const double texels = static_cast<double>(pixels * demand.inputs);
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  const DispatchTime depthwise = dispatch_time(rates, {.macs = 4 * taps * texels,
                                                       .bytes = bytes.x + bytes.middle + bytes.filters,
                                                       .subgroups = texels / subgroup_size(caps),
                                                       .subgroup_size = subgroup_size(caps),
                                                       .steps = kStepsAround + taps / 4});
  return depthwise.total_us(kDepthwiseEfficiency) +
         tile_us(caps, rates, tile, product, bytes.middle + bytes.y + bytes.weights);
}

// The predicted time of both layers in one dispatch.
double separable_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableTile& tile,
                    const SeparableDemand& demand) {
  const int64_t invocations = tile.invocations();
  const auto workgroups =
      static_cast<double>(blocks(demand.width, tile.width) * blocks(demand.height, tile.height) *
                          demand.images * blocks(demand.outputs, tile.slices));
  // The groups of four pixels that an invocation filters, and the input slices that it multiplies.
  const int64_t rounds = blocks(demand.inputs * tile.pixels() / 4, invocations);
  const int64_t slices = blocks(demand.inputs, tile.split_k);
  const TileCode code = tile_code(caps.vendor_id, tile.tile, false);
  const double filtered = static_cast<double>(16 * demand.kernel * demand.kernel * rounds);
  const double multiplied = static_cast<double>(slices) * code.macs_per_step;
  const SeparableBytes bytes = bytes_of(demand);
  const uint32_t subgroup = std::min(subgroup_size(caps), caps.vendor_id == kQualcomm ? 64u : 128u);
  const auto subgroups = static_cast<double>(blocks(invocations, subgroup));
  // As many workgroups as the shared memory of a unit holds, which a workgroup may take all of.
  const double held = std::max(1.0, static_cast<double>(caps.max_shared_memory_bytes) /
                                        static_cast<double>(tile.shared_bytes(demand)));
  const double steps = kStepsAround + static_cast<double>(rounds) + kStepsToReduce +
                       (tile.split_k > 1 ? kStepsToReduce : 0) +
                       static_cast<double>(blocks(slices, tile.ahead));
  return dispatch_time(rates, {.macs = workgroups * static_cast<double>(invocations) *
                                       (filtered * code.efficiency / kCheckedEfficiency + multiplied),
                               .bytes = bytes.x + bytes.y + bytes.filters + bytes.weights,
                               .subgroups = workgroups * subgroups,
                               .subgroup_size = subgroup,
                               .steps = steps,
                               .resident = std::min(code.resident, std::floor(held) * subgroups)})
      .total_us(code.efficiency);
}

bool fits(const DeviceCaps& caps, const SeparableTile& tile, const SeparableDemand& demand) {
  // Mesa's compiler for Adreno has half the registers where a workgroup is more than one subgroup of 64.
  constexpr int64_t kMostShared = 32 << 10;
  const int64_t most_invocations = caps.vendor_id == kQualcomm ? 64 : 256;
  const int64_t columns = tile.invocations() / tile.split_k;
  return tile.invocations() <= std::min<int64_t>(most_invocations, caps.max_workgroup_invocations) &&
         columns <= caps.max_workgroup_size[0] && tile.split_k <= caps.max_workgroup_size[1] &&
         tile.shared_bytes(demand) <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Tiles of 8 to 64 pixels that the device can run and that do not compute twice what there is. Those between
// them gain little, and each has a pipeline of its own.
std::vector<SeparableTile> possible_tiles(const DeviceCaps& caps, const SeparableDemand& demand) {
  std::vector<SeparableTile> tiles;
  for (const auto& [width, height] : {std::pair{4, 2}, {8, 2}, {8, 4}, {8, 8}})
    for (const int64_t pixels : {4, 8})
      for (const int64_t slices : {1, 2})
        for (int64_t groups = 1; slices * groups < 2 * demand.outputs; groups *= 2)
          for (int64_t split = 1; split <= std::min<int64_t>(demand.inputs, 16); split *= 4) {
            // Weights of as many input slices as registers hold, besides as many sums again.
            const int64_t ahead = std::clamp<int64_t>(2 * most_sums(caps) / (pixels * slices), 1, 4);
            const SeparableTile tile{width, height, {pixels, slices}, slices * groups, split, ahead};
            const bool wasteful =
                (width > 4 && width >= 2 * demand.width) || (height > 2 && height >= 2 * demand.height);
            if (wasteful || pixels * slices > most_sums(caps)) continue;
            if (fits(caps, tile, demand)) tiles.push_back(tile);
          }
  return tiles;
}

// The two kernels were fitted to machine code, this one was not: it must take less than this share of theirs.
constexpr double kWorthOneKernel = 0.9;
constexpr size_t kMostSeparableTiles = 3;  // each is a candidate of `vellum tune`

class GpuPolicy final : public DevicePolicy {
 public:
  int64_t invocations_to_fill(const DeviceCaps& caps) const override {
    return static_cast<int64_t>(busy_invocations(caps));
  }

  OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand) const override {
    return quickest(caps, demand, 1).tile;
  }
  OutputTile smallest_tile(const OutputTile&, const TileDemand&) const override { return {1, 1}; }

  std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                     int64_t most_split) const override {
    const std::vector<SplitTile> timed = timed_tiles(caps, demand, std::min<int64_t>(most_split, 16));
    const SplitTile best = quickest(caps, demand, timed);
    const double efficient = kAsEfficient * code_of(caps, best, demand).efficiency;
    std::vector<SplitTile> quick{best};
    for (const SplitTile& choice : timed)
      if (choice.us <= kAsQuick * best.us && code_of(caps, choice, demand).efficiency >= efficient &&
          (choice.tile != best.tile || choice.split_k != best.split_k))
        quick.push_back(choice);
    return quick;
  }
  std::optional<PixelTile> depthwise_tile(const DeviceCaps& caps,
                                          const DepthwiseDemand& demand) const override {
    PixelTile best;
    for (const int64_t pixels : {1, 2, 4})
      for (const int64_t rows : {1, 2, 4}) {
        const PixelTile tile{pixels, rows};
        if (pixels > demand.width || rows > demand.height) continue;
        if (pixels * rows > most_depthwise_sums(caps, demand.kernel)) continue;
        if (depthwise_cost(caps, tile, demand) < depthwise_cost(caps, best, demand)) best = tile;
      }
    return best;
  }

  std::vector<SeparableTile> separable_tiles(const DeviceCaps& caps,
                                             const SeparableDemand& demand) const override {
    const DeviceRates rates = device_rates(caps);
    const double most = kWorthOneKernel * apart_us(caps, rates, demand);
    std::vector<std::pair<double, SeparableTile>> timed;
    for (const SeparableTile& tile : possible_tiles(caps, demand))
      if (const double us = separable_us(caps, rates, tile, demand); us < most) timed.emplace_back(us, tile);
    std::ranges::stable_sort(timed, {}, &std::pair<double, SeparableTile>::first);
    if (timed.size() > kMostSeparableTiles) timed.resize(kMostSeparableTiles);
    std::vector<SeparableTile> tiles;
    for (const auto& [us, tile] : timed) tiles.push_back(tile);
    return tiles;
  }
  bool multiplies_cooperative_matrices() const override { return true; }
  bool broadcasts_are_cheaper_than_loads(const DeviceCaps&) const override { return false; }
  // Images are padded to blocks of texels, and no compiler makes scalar loads from them.
  bool keeps_weights_in_buffers(const DeviceCaps& caps) const override { return prefers_buffers(caps); }
  // By the model on Adreno (docs/gpu_compilers.md). The others were not tried.
  bool joins_in_buffers(const DeviceCaps& caps) const override { return caps.vendor_id == kQualcomm; }
  bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k) const override {
    return gains_by_uniform_loads(caps, split_k);
  }
  int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves) const override {
    return loads_ahead(caps, tile, halves);
  }
  // Adreno's compiler holds positions over the loop. The others were not tried.
  bool spares_registers(const DeviceCaps& caps) const override { return caps.vendor_id == kQualcomm; }
  // With four, Intel's compiler spills 84 registers. The others were not tried.
  int64_t attention_slices_ahead(const DeviceCaps& caps) const override {
    return caps.vendor_id == kAmd || caps.vendor_id == kQualcomm ? 4 : 1;
  }
  // Four pixels at steps of two; Arm's compiler reloads what of them it spills.
  int64_t most_columns(const DeviceCaps& caps) const override {
    return caps.vendor_id == kArm ? 6 : caps.vendor_id == kQualcomm ? 11 : 9;
  }
  uint64_t macs_worth_a_variant() const override { return uint64_t{1} << 24; }  // as on a CPU

  // Registers spill to memory.
  int64_t most_group_sums() const override { return 16; }
  int64_t most_attention_sums() const override { return 16; }
  // Intel's compiler spills two hundred registers with sixteen of each.
  int64_t most_fp16_sums(const DeviceCaps& caps) const override { return caps.vendor_id == kIntel ? 8 : 64; }

  // Neighbours are loaded together where a loop is shared, however many results there are.
  bool shares_loops(int64_t) const override { return true; }
  bool runs_loops_by_subgroups() const override { return true; }
  uint32_t loop_workgroup(int64_t) const override { return 64; }

  // One workgroup is one of dozens that could run.
  int64_t most_products_of_a_workgroup() const override { return int64_t{1} << 17; }
  int64_t most_texels_of_a_workgroup() const override { return int64_t{1} << 12; }

  bool ranks_rows(int64_t length, int64_t k) const override { return k > 64 && length <= (1 << 15); }

  void set_default_traits(DeviceCaps& caps) const override {
    // Images are up to twice as large as their tensors on AMD's GPUs.
    caps.prefers_images = caps.vendor_id != kArm && !prefers_buffers(caps);
    caps.reads_images_as_storage = true;
    caps.reads_buffers_as_texels = false;
    caps.memory = {};
    switch (caps.vendor_id) {
      // Adreno: the L1 cache belongs to the texture units, and only sampled reads pass through them.
      case kQualcomm:
      // Mali: the texture units take one texel a cycle, the load units a vec4 from any buffer.
      case kArm:
      case kImagination:
        caps.reads_images_as_storage = false;
        break;
      default:
        break;
    }
  }

  bool compiles_at_first_dispatch(const DeviceCaps&) const override { return false; }
  std::optional<ProcessTraits> process_traits(const DeviceCaps&) const override { return std::nullopt; }
  // A frame of a display of 60 Hz. Watchdogs end what takes hundreds of milliseconds (i915) or seconds
  // (Windows, amdgpu, phones), which leaves room for predictions that are ten times too short.
  uint32_t max_submit_ms(bool draws) const override { return draws ? 16 : 0; }
  bool copies_buffers_by_command() const override { return false; }
  bool allocates_in_the_process() const override { return false; }
};

}  // namespace

const DevicePolicy& gpu_policy() {
  static const GpuPolicy policy;
  return policy;
}

}  // namespace vellum
