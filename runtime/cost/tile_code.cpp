#include "cost/tile_code.hpp"

#include <algorithm>

namespace vellum {

TileCode tile_code(const DeviceTraits& traits, const OutputTile& tile, bool uniform, const WindowRow& row) {
  const auto pixels = static_cast<double>(tile.pixels), slices = static_cast<double>(tile.slices);
  const auto taps = static_cast<double>(row.taps), stride = static_cast<double>(row.stride);
  // For one tap, the texel of each pixel is multiplied with four texels of weights for each output slice.
  const double macs = 16 * pixels * slices, weights = 4 * slices;
  const double columns = row.taps > 1 ? (pixels - 1) * stride + taps : pixels;
  const double slots = traits.step_slots + traits.load_slots * columns +
                       traits.load_slots * taps * weights * (uniform ? traits.uniform_slots : 1) +
                       4 * columns * static_cast<double>(row.operations);
  const double loads = columns + taps * weights * (uniform ? traits.uniform_loads : 1);
  // A column takes a register for its position in addition to its texel. The weights of all taps of a row are
  // loaded ahead.
  const double registers = 20 + 4 * pixels * slices + 7 * columns + (uniform ? 0 : 4 * taps * weights);
  return {.macs_per_step = macs,
          .efficiency = 1 / std::max(1 + slots / (taps * macs), traits.macs_per_load * loads / (taps * macs)),
          .resident = std::clamp(traits.lane_registers / registers, 1.0, traits.most_resident)};
}

}  // namespace vellum
