// OneHot, shared by the kernel files that need it.
#pragma once

#include "kernels/framework/lowering.hpp"

namespace vellum {

// y[o, k, i] = values[indices[o, i] == k ? 1 : 0] for k < depth and i < inner; all tensors are linear.
void one_hot(Lowering& lowering, TensorId indices, TensorId values, TensorId y, int64_t depth, int64_t inner);

}  // namespace vellum
