// A 1x1 convolution and the depthwise convolution after it in one kernel (shaders/conv/conv_expand.comp): the
// beginning of an inverted residual (Sandler et al., MobileNetV2, arXiv 1801.04381, figure 3b), with the
// gates of squeeze-and-excitation of what it computes or without.
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// The operator: y = depthwise(pointwise(X, W1, B1), W2, B2), and with `squeeze` a second output
// gates = squeeze_excite(y, W3, B3, W4, B4). All B are optional.
std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze = nullptr);

}  // namespace vellum
