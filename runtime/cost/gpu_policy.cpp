// GPUs, and devices of which no more is known. Nothing here was measured on one yet.
#include <algorithm>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"
#include "cost/fused_layers.hpp"
#include "cost/gpu_registers.hpp"
#include "cost/gpu_tiles.hpp"
#include "cost/policies.hpp"

namespace vellum {
namespace {

using namespace gpu_tiles;

// AMD's and Intel's GPUs reach buffers through the same caches as images, and their compilers take fewer
// instructions for it. Mesa's compiler for NVIDIA takes more: addresses of buffers have 64 bits
// (docs/gpu_compilers.md).
bool prefers_buffers(const DeviceCaps& caps) { return caps.vendor_id == kAmd || caps.vendor_id == kIntel; }

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
    return quick_separable_tiles(caps, demand);
  }
  std::vector<ExpandTile> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand) const override {
    return quick_expand_tiles(caps, demand);
  }
  bool expands_rather(const DeviceCaps& caps, const ExpandDemand& before,
                      const SeparableDemand& after) const override {
    return expand_gains_more(caps, before, after);
  }
  bool merges_branches(const DeviceCaps& caps, const TileDemand& narrow,
                       const TileDemand& wide) const override {
    return branches_gain(caps, narrow, wide);
  }
  // A conversion takes a launch, a barrier and the tensor twice; three loads in place of one take less.
  bool reads_planes(const DeviceCaps&) const override { return true; }
  // One dispatch in place of two.
  bool takes_means_of_products(const DeviceCaps&) const override { return true; }
  bool multiplies_cooperative_matrices() const override { return true; }
  bool broadcasts_are_cheaper_than_loads(const DeviceCaps&) const override { return false; }
  // Images are padded to blocks of texels, and no compiler makes scalar loads from them.
  bool keeps_weights_in_buffers(const DeviceCaps& caps) const override { return prefers_buffers(caps); }
  // By the model on Adreno (docs/gpu_compilers.md). The others were not tried.
  bool joins_in_buffers(const DeviceCaps& caps) const override { return caps.vendor_id == kQualcomm; }
  bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k) const override {
    return gains_by_uniform_loads(caps, split_k);
  }
  int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves,
                       bool neighbours) const override {
    return loads_ahead(caps, tile, halves, neighbours);
  }
  // Adreno's compiler holds positions over the loop. The others were not tried.
  bool spares_registers(const DeviceCaps& caps) const override { return caps.vendor_id == kQualcomm; }
  // With four, Intel's compiler spills 84 registers. The others were not tried.
  int64_t attention_slices_ahead(const DeviceCaps& caps) const override {
    return caps.vendor_id == kAmd || caps.vendor_id == kQualcomm ? 4 : 1;
  }
  // Four pixels at steps of two; Arm's compiler reloads what of them it spills.
  int64_t most_columns(const DeviceCaps& caps) const override {
    return caps.vendor_id == kArm ? 6 : caps.vendor_id == kQualcomm ? 13 : 9;
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

  bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations) const override {
    return gates_gain_as_last(caps, products, invocations);
  }
  int64_t gate_slices_ahead(const DeviceCaps& caps) const override { return gate_loads_ahead(caps); }

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
