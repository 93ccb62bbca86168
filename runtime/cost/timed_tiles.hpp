// Tiles of convolutions and matrix products by predicted time.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/tile_code.hpp"
#include "cost/tiles.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

// The tile with the fewest instructions and loads for its products takes the least power among equally quick
// ones; others that count as equal must have this share of its efficiency.
inline constexpr double kAsEfficient = 0.95;

// Returns the number of blocks of `size` that cover `count`.
constexpr int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Returns the predicted time of an operator's dispatch with this tile. Every tile reads and writes the same
// tensors: their bytes matter only where a time is compared with that of another kernel.
double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes = 0);
TileCode code_of(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand);

// Returns the tiles and splits of at most `most_split` that the kernels have, with their predicted times.
std::vector<SplitTile> timed_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);
// Returns the quickest of timed_tiles(); of equal ones the most efficient, then the first.
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, const std::vector<SplitTile>& timed);
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);

}  // namespace vellum
