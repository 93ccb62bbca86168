// Tiles of convolutions and matrix products on GPUs, by predicted time. Included by this folder alone.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/device_policy.hpp"
#include "cost/tile_code.hpp"
#include "vellum/device_rates.hpp"

namespace vellum::gpu_tiles {

// The tile with the fewest instructions and loads for its products takes the least power among equally quick
// ones; others that count as equal must have this share of its efficiency.
inline constexpr double kAsEfficient = 0.95;

// That of the device, 32 if it does not say.
uint32_t subgroup_size(const DeviceCaps& caps);
// That of a kernel with many registers.
uint32_t subgroup_of_many_registers(const DeviceCaps& caps);
// The blocks of `size` that cover `count`.
int64_t blocks(int64_t count, int64_t size);

// Whether invocations of a workgroup should load the same weights (DevicePolicy).
bool gains_by_uniform_loads(const DeviceCaps& caps, int64_t split_k);

// The predicted time of an operator's dispatch with this tile. Every tile reads and writes the same tensors:
// their bytes matter only where a time is compared with that of another kernel.
double tile_us(const DeviceCaps& caps, const DeviceRates& rates, const SplitTile& choice,
               const TileDemand& demand, double bytes = 0);
TileCode code_of(const DeviceCaps& caps, const SplitTile& choice, const TileDemand& demand);

// The tiles and splits of at most `most_split` that the kernels have, with their predicted times.
std::vector<SplitTile> timed_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);
// The quickest of timed_tiles(); of equal ones the most efficient, then the first.
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, const std::vector<SplitTile>& timed);
SplitTile quickest(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);

}  // namespace vellum::gpu_tiles
