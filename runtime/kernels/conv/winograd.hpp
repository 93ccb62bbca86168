// 3x3 convolutions with fewer multiplications: Winograd's F(2x2, 3x3) and F(4x4, 3x3).
#pragma once

#include "kernels/conv/tile.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// For the Conv of `lowering`, a 3x3 window of stride and dilation 1 without groups: how wide tiles of output
// pixels may be, 2 and 4, where options allow it, the device can and it is not hopelessly slow.
std::vector<int64_t> winograd_sides(const Lowering& lowering);
// The one of them with which it should be fastest; 0: it should be faster without. With Winograd::automatic
// only measurements say so.
int64_t winograd_side(const Lowering& lowering);

// Tiles of the products of transformed tiles that may be tried, the cost model's first.
std::vector<ConvTile> winograd_tiles(const Lowering& lowering, int64_t side);

// Three dispatches: shaders/winograd_input.comp, winograd_product.comp, winograd_output.comp. `tile`: of the
// second.
void lower_winograd(Lowering& lowering, int64_t side, const ConvTile& tile, int64_t pad_left, int64_t pad_top,
                    const Activation& activation);

}  // namespace vellum
