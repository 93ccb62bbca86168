// Subgroup broadcast: the invocations of a subgroup compute the same output channels of different pixels.
// Each loads a part of the weights and broadcasts it to the others (SUBGROUP in shaders/conv/conv_tile.glsl).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/tile.hpp"

namespace vellum {

// Returns those of `tiles` that a subgroup can share, if pipelines can require full subgroups and there is
// work for all invocations of one.
std::vector<PricedTile> tiles_to_broadcast(const DeviceCaps& caps, const std::vector<PricedTile>& tiles,
                                           const TileDemand& demand);
// Returns the candidates of a kernel for pixels in a row: `tiles`, and those that can also with subgroup
// broadcast.
std::vector<ParameterCandidate<InvocationTile>> with_subgroup_broadcast(
    const std::string& algorithm, const DeviceCaps& caps, const std::vector<PricedTile>& tiles,
    const TileDemand& demand);
// Returns `blocks` of pixels, rounded up to whole subgroups if the tile needs these.
int64_t whole_subgroups(const DeviceCaps& caps, const InvocationTile& tile, int64_t blocks);

}  // namespace vellum
