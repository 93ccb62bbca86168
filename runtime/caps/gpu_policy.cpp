// GPUs, and devices of which no more is known. Nothing here was measured on one yet.
#include <algorithm>

#include "caps/device_rates.hpp"
#include "caps/policies.hpp"
#include "caps/vendors.hpp"

namespace vellum {
namespace {

// AMD's and Intel's GPUs reach buffers through the same caches as images, and their compilers take fewer
// instructions for it. Mesa's compiler for NVIDIA takes more: addresses of buffers have 64 bits
// (docs/gpu_compilers.md).
bool prefers_buffers(const DeviceCaps& caps) { return caps.vendor_id == kAmd || caps.vendor_id == kIntel; }

int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Invocations that keep the device busy: four subgroups for each unit that issues instructions.
double invocations_to_fill(const DeviceCaps& caps) {
  const std::optional<ChipRates> chip = chip_rates(caps.name);
  if (chip && caps.subgroup_size > 0) return 4.0 * chip->units * caps.subgroup_size;
  return caps.type == DeviceType::integrated_gpu ? 1 << 12 : 1 << 14;
}

// Texels of sums that compilers keep in registers. Intel's and Arm's spill more of them, or halve the
// subgroups.
int64_t most_sums(const DeviceCaps& caps) {
  return caps.vendor_id == kIntel || caps.vendor_id == kArm ? 4 : 8;
}

// AMD's compiler makes scalar loads of what a workgroup loads from one place, Intel's half as many loads.
// Those of Adreno and NVIDIA (Mesa's NVK) load it for each lane and compute more addresses
// (docs/gpu_compilers.md).
bool gains_by_uniform_loads(const DeviceCaps& caps) {
  for (const uint32_t vendor : {kNvidia, kQualcomm, kArm, kImagination})
    if (caps.vendor_id == vendor) return false;
  return true;
}

// The time of a tile relative to others: the multiply-adds of a device that is busy, and the loads that do
// not hide behind them, for which the hot loops' efficiency in docs/gpu_compilers.md stands: 0.44 at 3.2
// multiply-adds a load, 0.73 at 10.7.
double cost(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand, double enough) {
  const double invocations = static_cast<double>(blocks(demand.length, tile.pixels) * demand.lines *
                                                 blocks(demand.slices, tile.slices));
  // Scalar loads serve a whole subgroup.
  const int64_t weight_loads = (gains_by_uniform_loads(caps) ? 1 : 4) * tile.slices;
  const double products = static_cast<double>(16 * tile.pixels * tile.slices);
  const double per_load = products / static_cast<double>(tile.pixels + weight_loads);
  // Pixels and slices beyond the output are computed for nothing.
  const double waste = invocations * static_cast<double>(tile.pixels * tile.slices) /
                       static_cast<double>(demand.length * demand.lines * demand.slices);
  return waste * (1 + 4 / per_load) * std::max(1.0, enough / invocations);
}

class GpuPolicy final : public DevicePolicy {
 public:
  OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand) const override {
    const double enough = invocations_to_fill(caps);
    OutputTile best;
    double least = cost(caps, best, demand, enough);
    for (const int64_t pixels : {1, 2, 4})
      for (const int64_t slices : {1, 2}) {
        const OutputTile tile{pixels, slices};
        if (pixels >= 2 * demand.length || slices >= 2 * demand.slices || pixels * slices > most_sums(caps))
          continue;
        const double tiles_cost = cost(caps, tile, demand, enough);
        if (tiles_cost < least) least = tiles_cost, best = tile;
      }
    return best;
  }
  OutputTile smallest_tile(const OutputTile&, const TileDemand&) const override { return {1, 1}; }

  int64_t split_k_invocations(bool pointwise) const override { return pointwise ? 1 << 13 : 1 << 14; }
  bool multiplies_cooperative_matrices() const override { return true; }
  bool broadcasts_are_cheaper_than_loads(const DeviceCaps&) const override { return false; }
  // Images are padded to blocks of texels, and no compiler makes scalar loads from them.
  bool keeps_weights_in_buffers(const DeviceCaps& caps) const override { return prefers_buffers(caps); }
  bool loads_uniform_weights_cheaply(const DeviceCaps& caps) const override {
    return gains_by_uniform_loads(caps);
  }
  uint64_t macs_worth_a_variant() const override { return uint64_t{1} << 24; }  // as on a CPU

  // Registers spill to memory.
  int64_t most_group_sums() const override { return 16; }
  int64_t most_attention_sums() const override { return 16; }

  // Neighbours are loaded together where a loop is shared, however many results there are.
  bool shares_loops(int64_t) const override { return true; }
  bool runs_loops_by_subgroups() const override { return true; }
  uint32_t loop_workgroup(int64_t) const override { return 64; }

  // One workgroup is one of dozens that could run.
  int64_t most_products_of_a_workgroup() const override { return int64_t{1} << 16; }
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
  bool allocates_in_the_process() const override { return false; }
};

}  // namespace

const DevicePolicy& gpu_policy() {
  static const GpuPolicy policy;
  return policy;
}

}  // namespace vellum
