// A 1x1 convolution and the depthwise convolution after it in one kernel (shaders/conv/conv_expand.comp): the
// beginning of an inverted residual (Sandler et al., MobileNetV2, arXiv 1801.04381, figure 3b). The kernel
// can also compute the squeeze-and-excitation gates of its result.
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// Makes the operator y = depthwise(pointwise(X, W1, B1), W2, B2). With `squeeze` it has a second output,
// gates = squeeze_excite(y, W3, B3, W4, B4). All biases are optional.
std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze = nullptr);

}  // namespace vellum
