// Split-K: several invocations of a workgroup share each sum. Each invocation adds some of the products, and
// the workgroup reduces the partial sums in shared memory (shaders/conv/split_k.glsl).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/tile.hpp"

namespace vellum {

// The cost of a split tile relative to the best tile without a split, if the split is predicted to be
// quicker. Not measured on a GPU.
inline constexpr double kSplitKCost = 0.5;

struct PricedSplitTile {
  InvocationTile tile;
  double cost = kSplitKCost;
  double us = 0;
};

// Returns tiles with split-K for sums over `input_slices` slices of input channels. If a split is predicted
// to be quickest, its tile is first, then the same tile with half the split. Other split tiles that are
// predicted to be as quick follow. `whole_sums`: the result of output_tiles(); sets PricedTile::us of the
// quick tiles in it.
std::vector<PricedSplitTile> split_tiles(std::vector<PricedTile>& whole_sums, const DeviceCaps& caps,
                                         const TileDemand& demand, int64_t input_slices);

}  // namespace vellum
