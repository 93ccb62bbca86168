// A 1x1 and a 3x3 convolution of one input whose results are concatenated, in one kernel
// (shaders/conv/conv.comp, POINTWISE_SLICES): a fire module (Iandola et al., SqueezeNet, arXiv 1602.07360,
// section 3.2).
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// Makes the operator y = concat(pointwise(X, W1, B1), wide(X, W3, B3)) along channels. B1 and B3 are
// optional.
std::shared_ptr<const FusedNodes> branch_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> wide);

}  // namespace vellum
