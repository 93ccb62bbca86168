// GPUs, and devices of which no more is known. Nothing here was measured on one yet.
#include "caps/policies.hpp"
#include "caps/vendors.hpp"

namespace vellum {
namespace {

// Vendors whose GPUs reach buffers through the same caches as images.
bool is_desktop(const DeviceCaps& caps) {
  return caps.vendor_id == kAmd || caps.vendor_id == kIntel || caps.vendor_id == kNvidia;
}

int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

class GpuPolicy final : public DevicePolicy {
 public:
  // GPUs hold 4 x 2 texels of sums in registers, but want thousands of invocations first.
  OutputTile preferred_tile(const TileDemand& demand) const override {
    constexpr int64_t kEnough = 1 << 14;
    OutputTile tile{demand.length > 1 ? 4 : 1, demand.slices > 1 ? 2 : 1};
    const auto invocations = [&] {
      return blocks(demand.length, tile.pixels) * demand.lines * blocks(demand.slices, tile.slices);
    };
    if (invocations() < kEnough) tile.slices = 1;
    if (invocations() < kEnough) tile.pixels = 1;
    return tile;
  }
  OutputTile smallest_tile(const OutputTile&, const TileDemand&) const override { return {1, 1}; }

  int64_t split_k_invocations(bool pointwise) const override { return pointwise ? 1 << 13 : 1 << 14; }
  bool multiplies_cooperative_matrices() const override { return true; }
  bool broadcasts_are_cheaper_than_loads(const DeviceCaps&) const override { return false; }
  // Images are padded to blocks of texels, and no compiler makes scalar loads from them.
  bool keeps_weights_in_buffers(const DeviceCaps& caps) const override { return is_desktop(caps); }
  // AMD's compiler makes scalar loads of them, Intel's needs fewer registers (docs/gpu_compilers.md).
  bool loads_uniform_weights_cheaply() const override { return true; }
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
    // Images of desktop GPUs are up to twice as large as their tensors, and kernels are no faster on them
    // (docs/gpu_compilers.md).
    caps.prefers_images = caps.vendor_id != kArm && !is_desktop(caps);
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
