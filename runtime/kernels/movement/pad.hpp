// Zero padding, for kernels that need padded inputs.
#pragma once

#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = x surrounded by zeros; x begins at index `begin` of y. Both are linear, with at most six dimensions.
void pad_with_zeros(Lowering& lowering, TensorId x, TensorId y, const std::vector<int64_t>& begin);

}  // namespace vellum
