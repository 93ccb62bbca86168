#include "cost/registers.hpp"

#include <algorithm>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"

namespace vellum {
namespace {

// Whether kernels should take all registers that an invocation may have.
bool fills_registers(const DeviceCaps& caps) {
  const int64_t held = device_traits(caps).most_held_lanes;
  if (held == 0) return false;
  const DeviceRates rates = device_rates(caps);
  return rates.lanes > held * rates.units;
}

}  // namespace

// A depthwise convolution holds weights besides, unless they are scalars as on AMD's.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel) {
  const DeviceTraits& traits = device_traits(caps);
  return kernel > 3 && !traits.scalar_weights ? traits.most_sums / 2 : traits.most_sums;
}

// The sums of 8x2 texels fit on Adreno where the columns of a row are loaded once for all taps, if the last
// tile of a row may begin earlier (DeviceTraits::shifts_last_tile).
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  if (tile.pixels * tile.slices <= device_traits(caps).most_sums) return true;
  // Loops over halves load as much at a time with smaller tiles.
  const bool has_few_addresses =
      demand.row.taps > 1 || (demand.loads_ahead && demand.are_contiguous(8) && !demand.halves);
  return fills_registers(caps) && has_few_addresses && demand.length >= 8 && tile == OutputTile{8, 2};
}

// Several loads in flight hide their latency, and a longer loop has fewer instructions that do not multiply.
// More than these keep too many registers: on Adreno three slices of 4x2 texels fit, or four of halves, and
// two of 2x4 texels, for they have more weights (docs/gpu_compilers.md).
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

// As many as registers hold besides as many sums again; on Adreno 660 those of 4x2 texels hold twice as many,
// except where windows of five pixels are filtered besides.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel) {
  if (fills_registers(caps) && tile == OutputTile{4, 2} && kernel <= 3) return 4;
  return std::clamp<int64_t>(2 * device_traits(caps).most_sums / (tile.pixels * tile.slices), 1, 4);
}

}  // namespace vellum
