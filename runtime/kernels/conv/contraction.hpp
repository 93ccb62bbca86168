// Convolution as a general contraction: slow, but for every data type and one to three spatial dimensions.
#pragma once

#include "graph/operators/conv/conv.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = conv(x, w) without bias and activation. All tensors are linear, and all have floats or all integers.
void convolve_by_contraction(Lowering& lowering, const Conv& conv, TensorId x, TensorId w, TensorId y);

}  // namespace vellum
