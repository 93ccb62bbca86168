// Convolutions whose groups are not of whole slices of four channels: shaders/conv_groups.comp.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/tile.hpp"
#include "kernels/conv/window.hpp"

namespace vellum {

// Tiles that the kernel may have for the Conv of `lowering`, the cost model's first; none where its groups
// are of whole slices, for which conv.comp multiplies nothing in vain, or too many channels are in one block.
std::vector<ConvTile> group_tiles(const Lowering& lowering, int64_t groups);

void lower_groups(Lowering& lowering, const ConvTile& tile, const Window2d& window, int64_t groups,
                  const Activation& activation);

}  // namespace vellum
