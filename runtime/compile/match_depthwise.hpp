// Matching of convolutions that kernels for two layers compute.
#pragma once

#include "graph/operators/conv/conv.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

// Whether the weights of a convolution, and its bias if it has one, are constants.
bool has_constant_weights(const GraphEditor& editor, const Node& conv);

// A depthwise convolution over a line or a plane that multiplies each channel once with constant weights,
// without a residual or scale.
bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv);

// A 1x1 convolution with constant weights and without a scale; it may have a residual.
bool is_product(const GraphEditor& editor, const Match<Conv>& conv);

// An input of the node, kNoValue where it has fewer.
ValueId input_or_none(const Node& node, size_t slot);

}  // namespace vellum
