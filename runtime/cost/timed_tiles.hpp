// Tiles of convolutions and matrix products by predicted time.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/tile_code.hpp"
#include "cost/tiles.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

// Among equally quick tiles the one with the fewest instructions and loads for its products uses the least
// power. Another tile counts as equal only if it has this share of its efficiency.
inline constexpr double kAsEfficient = 0.95;

// Returns the number of blocks of `size` that cover `count`.
constexpr int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Returns the predicted microseconds of an operator's dispatch with this tile. `bytes`: of the tensors that
// it reads and writes. All tiles have the same bytes, so give them only to compare with another kernel.
double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes = 0);
// Returns the figures of the machine code with this tile.
TileCode code_of(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand);

// Returns the tiles that the kernels have, with splits of at most `most_split`, and their predicted times.
std::vector<SplitTile> timed_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);
// Return the quickest of timed_tiles(). Among equally quick tiles that is the most efficient one, and among
// equally efficient ones the first.
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, const std::vector<SplitTile>& timed);
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);

}  // namespace vellum
