// How many values compilers hold in the registers of an invocation: as many as they neither spill nor pay for
// with subgroups (docs/gpu_compilers.md).
#pragma once

#include <cstdint>

#include "cost/tiles.hpp"

namespace vellum {

// Returns the texels of sums that an invocation holds of a depthwise convolution.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel);
// Whether registers hold the sums of a tile of this demand.
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand);
// Returns the slices of x that a pointwise convolution loads together before it multiplies them, as `halves`
// or as floats. `contiguous`: the pixels of a tile are contiguous in memory.
int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves, bool contiguous);
// Returns the slices of x whose weights are loaded together where x is in shared memory, filtered with a
// window of `kernel` pixels.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel);

}  // namespace vellum
