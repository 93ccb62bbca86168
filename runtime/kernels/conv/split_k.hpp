// Split-K: several invocations of a workgroup share each sum, each of some of the products, and reduce their
// partial sums in shared memory (shaders/conv/split_k.glsl).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/tile.hpp"

namespace vellum {

// The cost of split-K relative to whole sums, where it is predicted to be quicker. Not measured on a GPU.
inline constexpr double kSplitKCost = 0.5;

struct PricedSplitTile {
  InvocationTile tile;
  double cost = kSplitKCost;
  double us = 0;
};

// Returns the split tile that should be quickest for sums over `input_slices` slices of input channels and
// one with half as many parts, unless it prefers whole sums; then those that are as quick. Adds the predicted
// times of the quick tiles of `whole_sums`, all that output_tiles() returned.
std::vector<PricedSplitTile> split_tiles(std::vector<PricedTile>& whole_sums, const DeviceCaps& caps,
                                         const TileDemand& demand, int64_t input_slices);

}  // namespace vellum
