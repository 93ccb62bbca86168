// Zero padding, for kernels that need it first.
#pragma once

#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = x with zeros around it, both linear and of at most six dimensions: x begins at `begin` in y.
void pad_with_zeros(Lowering& lowering, TensorId x, TensorId y, const std::vector<int64_t>& begin);

}  // namespace vellum
