// Convolution as a general sum of products: slow, and for every form.
#pragma once

#include "graph/operators/conv/conv.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = the sums of a convolution, without bias and activation, of linear tensors of floats or integers, in one
// to three spatial dimensions.
void convolve_by_contraction(Lowering& lowering, const Conv& conv, TensorId x, TensorId w, TensorId y);

}  // namespace vellum
