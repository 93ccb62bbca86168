// Drivers that run on the CPU: lavapipe, on which the figures were measured, and SwiftShader.
#include <algorithm>

#include "caps/vendors.hpp"
#include "cost/policies.hpp"

namespace vellum {
namespace {

int64_t round_up_to(int64_t length, int64_t size) { return (length + size - 1) / size * size; }

// A load costs as much as twenty multiplications, and few invocations keep a CPU busy: tiles are big. A tile
// of 4 pixels reaches about 0.7 of the throughput of one of 8, so the larger wins unless it idles more.
int64_t tile_pixels(int64_t length) {
  if (length <= 1) return 1;
  return 10 * round_up_to(length, 4) >= 7 * round_up_to(length, 8) ? 8 : 4;
}

// Tiles of four slices compile twice as long (by 0.2 s on lavapipe) and run a fifth faster: for large
// operators only.
int64_t tile_slices(const TileDemand& demand) {
  constexpr int64_t kLarge = int64_t{3} << 24;
  if (demand.slices % 4 == 0 && demand.macs >= kLarge) return 4;
  return demand.slices > 1 ? 2 : 1;
}

class CpuPolicy final : public DevicePolicy {
 public:
  int64_t invocations_to_fill(const DeviceCaps&) const override { return 0; }

  OutputTile preferred_tile(const DeviceCaps&, const TileDemand& demand) const override {
    return {tile_pixels(demand.length), tile_slices(demand)};
  }

  // Tiles of less than four pixels, or of one slice of many, were never the quickest: what is loaded weighs
  // most.
  OutputTile smallest_tile(const OutputTile& preferred, const TileDemand& demand) const override {
    return {std::min<int64_t>(preferred.pixels, 4), demand.slices >= 4 ? 2 : 1};
  }

  std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                     int64_t) const override {
    return {{preferred_tile(caps, demand)}};
  }

  std::optional<PixelTile> depthwise_tile(const DeviceCaps&, const DepthwiseDemand&) const override {
    return std::nullopt;
  }

  // Launches and barriers cost little, and depthwise kernels with large tiles are faster than a workgroup's.
  std::vector<SeparableTile> separable_tiles(const DeviceCaps&, const SeparableDemand&) const override {
    return {};
  }

  std::vector<ExpandTile> expand_tiles(const DeviceCaps&, const ExpandDemand&) const override { return {}; }

  bool expands_rather(const DeviceCaps&, const ExpandDemand&, const SeparableDemand&) const override {
    return false;
  }
  bool merges_branches(const DeviceCaps&, const TileDemand&, const TileDemand&) const override {
    return false;
  }
  bool reads_planes(const DeviceCaps&) const override { return false; }
  bool takes_means_of_products(const DeviceCaps&) const override { return false; }

  // Drivers compute matrices element by element: on lavapipe of Mesa 26.1 that takes 12 to 34 times as long
  // as other kernels.
  bool multiplies_cooperative_matrices() const override { return false; }

  // Pointwise convolutions by subgroup broadcast take 0.8 to 0.96 of the time on lavapipe of Mesa 25.0, 0.8
  // for two of three shapes (1.4 for the third) on 26.1, 1.4 to 1.5 of it on 22.3.
  bool broadcasts_are_cheaper_than_loads(const DeviceCaps& caps) const override {
    constexpr uint32_t kMesa25 = 25u << 22;  // as VK_MAKE_API_VERSION packs it
    return caps.vendor_id == kMesa && caps.driver_version >= kMesa25;
  }

  bool keeps_weights_in_buffers(const DeviceCaps&) const override { return false; }
  bool joins_in_buffers(const DeviceCaps&) const override { return false; }
  bool loads_uniform_weights_cheaply(const DeviceCaps&, int64_t) const override { return false; }
  int64_t slices_ahead(const DeviceCaps&, const OutputTile&, bool, bool) const override { return 1; }
  bool spares_registers(const DeviceCaps&) const override { return false; }
  int64_t attention_slices_ahead(const DeviceCaps&) const override { return 1; }
  int64_t most_columns(const DeviceCaps&) const override { return 0; }
  // LLVM takes 0.2 s for the variant of a 3x3 convolution that runs a quarter faster.
  uint64_t macs_worth_a_variant() const override { return uint64_t{1} << 24; }

  // Spilled registers go to a cache that is faster than a load from a tensor.
  int64_t most_group_sums() const override { return 64; }
  int64_t most_fp16_sums(const DeviceCaps&) const override { return 64; }
  // Twice as many take a second to compile.
  int64_t most_attention_sums() const override { return 32; }

  // A CPU has a few threads of a few lanes each, and shared memory costs it more than the work that is
  // shared.
  bool shares_loops(int64_t results) const override { return results < 16; }

  // Nothing was quicker: softmax, layer normalisation, means of channels and of planes take 1.0 to 8 times as
  // long by subgroups on lavapipe of Mesa 22.3 and 25.0.
  bool runs_loops_by_subgroups() const override { return false; }

  // Threads take whole workgroups: those of few results are as wide as a thread's lanes, so that threads are
  // done at the same time.
  uint32_t loop_workgroup(int64_t results) const override { return results <= 512 ? 8 : 64; }

  // A workgroup runs on one thread, and to start another dispatch takes as long as some 50000 products.
  int64_t most_products_of_a_workgroup() const override { return int64_t{1} << 20; }
  int64_t most_texels_of_a_workgroup() const override { return int64_t{1} << 16; }

  bool computes_gates_last(const DeviceCaps&, int64_t, int64_t) const override { return false; }
  int64_t gate_slices_ahead(const DeviceCaps&) const override { return 1; }

  bool ranks_rows(int64_t, int64_t) const override { return false; }

  void set_default_traits(DeviceCaps& caps) const override {
    // A storage image load is an address computation and a load, while texelFetch goes through the sampler.
    caps.prefers_images = true;
    caps.reads_images_as_storage = true;
    caps.reads_buffers_as_texels = false;
    caps.memory = {};
    if (caps.vendor_id == kGoogle) caps.memory = {2, 2, 1, 16, 256};
    if (caps.vendor_id != kMesa) return;
    // Measured on lavapipe 22.3: to store a vec4 takes 2 ns in a buffer and 17 ns in an image, to load one
    // 2.5 ns from a storage buffer and 0.9 ns from a texel buffer or an image.
    caps.prefers_images = false;
    caps.reads_buffers_as_texels = true;
    caps.memory = {4, 4, 64, 16, 64};  // by vkGetDeviceImageMemoryRequirements, as SwiftShader's
  }

  // Measured on lavapipe 22.3: to create squeezenet1_1's eight pipelines takes 50 ms of CPU time, their first
  // dispatches 600 ms.
  bool compiles_at_first_dispatch(const DeviceCaps& caps) const override { return caps.vendor_id == kMesa; }

  // Where nothing was measured on the device: of lavapipe as in caps/lavapipe.json.
  std::optional<ProcessTraits> process_traits(const DeviceCaps& caps) const override {
    if (caps.process || caps.vendor_id != kMesa) return caps.process;
    return ProcessTraits{
        .driver_bytes = 101'663'000, .bytes_per_operation = 942, .bytes_per_operation_of_largest = 2938};
  }
  // The scheduler of the operating system divides a CPU's time.
  uint32_t max_submit_ms(bool) const override { return 0; }
  // Measured on lavapipe 22.3: a copy of a few rows takes 1 us instead of 50.
  bool copies_buffers_by_command() const override { return true; }
  bool allocates_in_the_process() const override { return true; }
};

}  // namespace

const DevicePolicy& cpu_policy() {
  static const CpuPolicy policy;
  return policy;
}

}  // namespace vellum
