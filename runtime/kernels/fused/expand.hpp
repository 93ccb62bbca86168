// A 1x1 convolution and the depthwise convolution after it in one kernel (shaders/conv/conv_expand.comp): the
// beginning of an inverted residual (Sandler et al., MobileNetV2, arXiv 1801.04381, figure 3b). The kernel
// can also compute the squeeze-and-excitation gates of its result.
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// The functions of the rounded results of both convolutions, as ByteTables; null if there is none.
struct ExpandTables {
  std::shared_ptr<const Operator> middle = nullptr, last = nullptr;
};

// Makes the operator y = depthwise(pointwise(X, W1, B1), W2, B2). With `squeeze` it has a second output,
// gates = squeeze_excite(y, W3, B3, W4, B4). All biases are optional. With tables, and without `squeeze`, it
// has the inputs T1 and T2 after B2: y = T2[depthwise(T1[pointwise(X, W1, B1)], W2, B2)].
std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze = nullptr,
                                               const ExpandTables& tables = {});

}  // namespace vellum
