// Subgroup broadcast: the invocations of a subgroup compute the same output channels of different pixels.
// Each loads a part of the weights and broadcasts it to the others (SUBGROUP in
// shaders/conv/tile_broadcast.glsl).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/tile.hpp"

namespace vellum {

// Returns the `tiles` that can use subgroup broadcast: pipelines can require full subgroups, and there is
// work for all invocations of a subgroup.
std::vector<PricedTile> tiles_to_broadcast(const DeviceCaps& caps, const std::vector<PricedTile>& tiles,
                                           const TileDemand& demand);
// Returns the candidates of a kernel whose tiles cover rows of pixels: all `tiles`, and then
// tiles_to_broadcast() with subgroup broadcast.
std::vector<ParameterCandidate<InvocationTile>> with_subgroup_broadcast(
    const std::string& algorithm, const DeviceCaps& caps, const std::vector<PricedTile>& tiles,
    const TileDemand& demand);
// Returns `blocks` of pixels, rounded up to whole subgroups if the tile uses subgroup broadcast.
int64_t whole_subgroups(const DeviceCaps& caps, const InvocationTile& tile, int64_t blocks);

}  // namespace vellum
