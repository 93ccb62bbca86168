// Matching of the nodes that fused kernels compute.
#pragma once

#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "kernels/conv/window.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

// Whether the weights of a convolution, and its bias if it has one, are constants that a fused kernel can
// read: those of a convolution in fixed point are for kernels that add up integers.
bool has_fusible_weights(const GraphEditor& editor, const Node& conv);

// A depthwise convolution over a line or a plane that multiplies each channel once with constant weights,
// without a residual or scale.
bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv);

// A 1x1 convolution with constant weights and without a scale; it may have a residual.
bool is_product(const GraphEditor& editor, const Match<Conv>& conv);

Window2d window_of(const GraphEditor& editor, const Match<Conv>& conv);

// An input of the node, kNoValue where it has fewer.
ValueId input_or_none(const Node& node, size_t slot);
// Its inputs from `first` on, `count` of them: kNoValue where it has fewer.
std::vector<ValueId> inputs_or_none(const Node& node, size_t first, size_t count);

}  // namespace vellum
