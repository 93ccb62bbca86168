// 3x3 convolutions with fewer multiplications: Winograd's F(2x2, 3x3) and F(4x4, 3x3).
#pragma once

#include "kernels/lowering.hpp"

namespace vellum {

// How wide the tiles of output pixels are, 2 or 4, with which the Conv of `lowering`, a 3x3 window of stride
// and dilation 1 without groups, should be fastest; 0: options forbid it, or it should be faster without.
int64_t winograd_side(const Lowering& lowering);

// Three dispatches: shaders/winograd_input.comp, winograd_product.comp, winograd_output.comp.
void lower_winograd(Lowering& lowering, int64_t side, int64_t pad_left, int64_t pad_top,
                    const Activation& activation);

}  // namespace vellum
