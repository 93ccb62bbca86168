// Products and 1x1 convolutions that store or read the pixels of another tensor
// (kernels/framework/fuse_pixel_moves.hpp), for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_pixel_moves(std::vector<SmallOperator>& list);

}  // namespace vellum
