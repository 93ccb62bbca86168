// How many values compilers hold in the registers of an invocation without spilling and without fewer
// resident subgroups (docs/gpu_compilers.md).
#pragma once

#include <cstdint>

#include "cost/tiles.hpp"

namespace vellum {

// Returns the texels of sums that an invocation of a depthwise convolution can hold.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel);
// Returns whether registers hold the sums of a tile of this demand.
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand);
// Returns the slices of x that a pointwise convolution loads together before it multiplies them. `halves`: it
// loads fp16. `contiguous`: the pixels of a tile are contiguous in memory.
int64_t slices_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves, bool contiguous);
// Returns the slices of x whose weights a fused kernel loads together, if x is in shared memory after a
// depthwise convolution with a window of `kernel` x `kernel` pixels.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel);

}  // namespace vellum
