#include "cost/depthwise_tile.hpp"

#include <algorithm>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"

namespace vellum {
namespace {

// Returns the cost of a tile of a depthwise convolution, in issue slots of instructions.
double depthwise_cost(const DeviceCaps& caps, const PixelTile& tile, const DepthwiseDemand& demand) {
  const double tiles = static_cast<double>(blocks(demand.width, tile.pixels) *
                                           blocks(demand.height, tile.rows) * demand.planes);
  const int64_t columns = (tile.pixels - 1) * demand.stride_x + demand.kernel;
  const int64_t rows = (tile.rows - 1) * demand.stride_y + demand.kernel;
  const int64_t taps = demand.kernel * demand.kernel;
  const int64_t products = 4 * taps * tile.pixels * tile.rows;
  const int64_t selects = 4 * (demand.kernel - 1) * rows;  // selects of zeros where columns may be padding
  const int64_t loads = columns * rows + (loads_uniform_weights_cheaply(caps, 1) ? 0 : taps);
  // A load of four floats takes as long as about eight multiply-adds. The constant is for the tile's
  // position.
  const double slots = static_cast<double>(products + selects + 8 * loads + 60);
  // All loads of a tile are in flight together, so that one subgroup on each unit hides most of their
  // latency.
  const double enough = static_cast<double>(device_rates(caps).units) * subgroup_size(caps);
  return slots * std::max(tiles, enough);
}

}  // namespace

std::optional<PixelTile> depthwise_tile(const DeviceCaps& caps, const DepthwiseDemand& demand) {
  if (!device_traits(caps).depthwise_tiles) return std::nullopt;
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

}  // namespace vellum
