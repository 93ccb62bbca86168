#include "cost/tile_code.hpp"

#include <algorithm>

namespace vellum {

TileCode tile_code(const DeviceTraits& traits, const OutputTile& tile, bool uniform, const WindowRow& row,
                   bool multiplies_dots) {
  const auto pixels = static_cast<double>(tile.pixels), slices = static_cast<double>(tile.slices);
  const auto taps = static_cast<double>(row.taps), stride = static_cast<double>(row.stride);
  // For one tap, the texel of each pixel is multiplied with four texels of weights for each output slice.
  // Bytes: four texels of weights are one load, a texel of x is a register, and a quarter of a load.
  const double texel = multiplies_dots ? 1 : 4;
  const double macs = 16 * pixels * slices, weights = texel * slices;
  const double macs_per_slot = multiplies_dots ? 4 : 1;
  const double columns = row.taps > 1 ? (pixels - 1) * stride + taps : pixels;
  const double slots = traits.step_slots + traits.load_slots * columns +
                       traits.load_slots * taps * weights * (uniform ? traits.uniform_slots : 1) +
                       texel * columns * static_cast<double>(row.operations);
  const double loads = columns * texel / 4 + taps * weights * (uniform ? traits.uniform_loads : 1);
  // A column takes a register for its position in addition to its texel. The weights of all taps of a row are
  // loaded ahead.
  const double registers = 20 + 4 * pixels * slices + 7 * columns + (uniform ? 0 : 4 * taps * weights);
  return {.macs_per_step = macs,
          .efficiency = 1 / std::max(1 / macs_per_slot + slots / (taps * macs),
                                     traits.macs_per_load * loads / (taps * macs)),
          .resident = std::clamp(traits.lane_registers / registers, 1.0, traits.most_resident)};
}

}  // namespace vellum
