// A 1x1 convolution and the depthwise convolution after it in one kernel (shaders/conv/conv_expand.comp): the
// beginning of an inverted residual (Sandler et al., MobileNetV2, arXiv 1801.04381, figure 3b), with the
// gates of squeeze-and-excitation of what it computes or without.
#pragma once

#include <memory>
#include <optional>

#include "cost/fused_layers.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The operator: y = depthwise(pointwise(X, W1, B1), W2, B2), and with `squeeze` a second output
// gates = squeeze_excite(y, W3, B3, W4, B4). All B are optional.
std::shared_ptr<const FusedNodes> expand_nodes(std::shared_ptr<const Operator> pointwise,
                                               std::shared_ptr<const Operator> depthwise,
                                               std::shared_ptr<const Operator> squeeze = nullptr);

// The demand of the operator that could be made of the depthwise convolution at `index`; nothing where there
// is none.
std::optional<ExpandDemand> demand_of_expand(const GraphEditor& editor, size_t index, Precision precision);

}  // namespace vellum
