// How many values compilers of GPUs hold in the registers of an invocation, by vendor: as many as they
// neither spill nor pay for with subgroups (docs/gpu_compilers.md).
#pragma once

#include <cstdint>

#include "cost/device_policy.hpp"

namespace vellum {

// Texels of sums of a convolution's tile or a matrix product's.
int64_t most_sums(const DeviceCaps& caps);
// Those of a depthwise convolution.
int64_t most_depthwise_sums(const DeviceCaps& caps, int64_t kernel);
// Whether they hold the sums of a tile of this demand.
bool holds_sums(const DeviceCaps& caps, const OutputTile& tile, const TileDemand& demand);
// Slices of x that a pointwise convolution loads together; `halves`: it multiplies halves, `neighbours`: one
// address does for the pixels of a tile.
int64_t loads_ahead(const DeviceCaps& caps, const OutputTile& tile, bool halves, bool neighbours);
// Slices of x whose weights are loaded together where x is in shared memory, filtered with a window of
// `kernel` pixels.
int64_t weights_ahead(const DeviceCaps& caps, const OutputTile& tile, int64_t kernel);

}  // namespace vellum
