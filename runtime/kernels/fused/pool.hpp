// A max pool and the 1x1 convolution after it in one kernel.
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// The operator: y = pointwise(pool(X), W, B, residual), with a Pool without indices. B and the residual are
// optional.
std::shared_ptr<const FusedNodes> pool_nodes(std::shared_ptr<const Operator> pool,
                                             std::shared_ptr<const Operator> pointwise);

}  // namespace vellum
