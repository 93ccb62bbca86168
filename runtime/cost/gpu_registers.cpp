#include "cost/gpu_registers.hpp"

#include <algorithm>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"

namespace vellum {
namespace {

// Whether kernels should take all registers that an invocation may have. A unit of Adreno 660 runs five
// subgroups at a time, but holds four of kernels with half the registers, so that waits for loads are hidden
// by larger loops alone. Others, of the same registers, hold more than they run.
bool fills_registers(const DeviceCaps& caps) {
  constexpr double kSubgroup = 64, kHeld = 4;
  const DeviceRates rates = device_rates(caps);
  return caps.vendor_id == kQualcomm && rates.lanes > kHeld * kSubgroup * rates.units;
}

}  // namespace

// Texels of sums that compilers keep in registers. Intel's and Arm's spill more of them, or halve the
// subgroups.
int64_t most_sums(const DeviceCaps& caps) {
  return caps.vendor_id == kIntel || caps.vendor_id == kArm ? 4 : 8;
}

// most_sums() of a depthwise convolution, which holds weights besides, unless they are scalars as on AMD's.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel) {
  return kernel > 3 && caps.vendor_id != kAmd ? most_sums(caps) / 2 : most_sums(caps);
}

// Whether registers hold the sums of a tile. Those of 8x2 texels fit on Adreno where the columns of a row are
// loaded once for all taps, if the last tile of a row may begin earlier (spares_registers()).
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand) {
  if (tile.pixels * tile.slices <= most_sums(caps)) return true;
  // Loops over halves load as much at a time with smaller tiles.
  const bool has_few_addresses =
      demand.row.taps > 1 || (demand.loads_ahead && demand.are_neighbours(8) && !demand.halves);
  return fills_registers(caps) && has_few_addresses && demand.length >= 8 && tile == OutputTile{8, 2};
}

// Several loads in flight hide their latency, and a longer loop has fewer instructions that do not multiply.
// More than these keep too many registers: on Adreno three slices of 4x2 texels fit, or four of halves, and
// two of 2x4 texels, for they have more weights (docs/gpu_compilers.md).
int64_t loads_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves, bool neighbours) {
  if (fills_registers(caps)) {
    if (tile.pixels == 8) return neighbours ? 2 : 1;
    if (tile.slices > 2) return tile.pixels > 1 ? 2 : 4;
    return tile == OutputTile{4, 2} && !halves && !neighbours ? 3 : 4;
  }
  const bool eight = caps.vendor_id == kNvidia || (caps.vendor_id == kQualcomm && tile.pixels == 4);
  const int64_t texels = eight ? 8 : 4;
  return std::clamp<int64_t>(texels / tile.pixels, 1, 4);
}

// As many as registers hold besides as many sums again; on Adreno 660 those of 4x2 texels hold twice as many,
// except where windows of five pixels are filtered besides.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel) {
  if (fills_registers(caps) && tile == OutputTile{4, 2} && kernel <= 3) return 4;
  return std::clamp<int64_t>(2 * most_sums(caps) / (tile.pixels * tile.slices), 1, 4);
}

}  // namespace vellum
