#include "cost/registers.hpp"

#include <algorithm>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"

namespace vellum {
namespace {

// Returns whether kernels should use all registers that an invocation can have
// (DeviceTraits::most_held_lanes).
bool fills_registers(const DeviceCaps& caps) {
  const int64_t held = device_traits(caps).most_held_lanes;
  if (held == 0) return false;
  const DeviceRates rates = device_rates(caps);
  return rates.lanes > held * rates.units;
}

}  // namespace

// A depthwise convolution also holds weights in vector registers, unless they are scalars as on AMD's GPUs.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel) {
  const DeviceTraits& traits = device_traits(caps);
  return kernel > 3 && !traits.scalar_weights ? traits.most_sums / 2 : traits.most_sums;
}

// On Adreno the sums of 8x2 texels fit in registers if the columns of a row are loaded once for all taps, and
// if the last tile of a row may begin earlier (DeviceTraits::shifts_last_tile).
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  if (tile.pixels * tile.slices <= device_traits(caps).most_sums) return true;
  // With fp16 elements smaller tiles load as much at a time.
  const bool has_few_addresses =
      demand.row.taps > 1 || (demand.loads_ahead && demand.are_contiguous(8) && !demand.halves);
  return fills_registers(caps) && has_few_addresses && demand.length >= 8 && tile == OutputTile{8, 2};
}

// Several loads in flight hide their latency, and a longer loop has fewer instructions that do not multiply.
// More slices than these need too many registers. On Adreno three slices of 4x2 texels fit, or four in fp16,
// and two slices of 2x4 texels, which have more weights (docs/gpu_compilers.md).
int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves, bool contiguous) {
  if (fills_registers(caps)) {
    if (tile.pixels == 8) return contiguous ? 2 : 1;
    if (tile.slices > 2) return tile.pixels > 1 ? 2 : 4;
    return tile == OutputTile{4, 2} && !halves && !contiguous ? 3 : 4;
  }
  const DeviceTraits& traits = device_traits(caps);
  const int64_t texels = tile.pixels < 4 ? traits.texels_ahead : traits.wide_texels_ahead;
  return std::clamp<int64_t>(texels / tile.pixels, 1, 4);
}

// The weights may take as many registers as the sums. On Adreno 660 tiles of 4x2 texels can hold twice as
// many weights, unless the kernel also filters windows of five pixels.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel) {
  if (fills_registers(caps) && tile == OutputTile{4, 2} && kernel <= 3) return 4;
  return std::clamp<int64_t>(2 * device_traits(caps).most_sums / (tile.pixels * tile.slices), 1, 4);
}

}  // namespace vellum
