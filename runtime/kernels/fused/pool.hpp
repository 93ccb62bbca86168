// A max pool and the 1x1 convolution after it in one kernel (shaders/conv/conv_separable.comp, POOLED).
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// Makes the operator y = pointwise(pool(X), W, B, residual). `pool`: a Pool without the output of indices. B
// and the residual are optional.
std::shared_ptr<const FusedNodes> pool_nodes(std::shared_ptr<const Operator> pool,
                                             std::shared_ptr<const Operator> pointwise);

}  // namespace vellum
