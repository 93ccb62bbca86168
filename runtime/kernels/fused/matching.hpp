// Helpers to match the nodes that fused kernels compute.
#pragma once

#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "kernels/conv/window.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

// Returns whether a fused kernel can read the weights and the bias of a convolution: they are constants, and
// the convolution is not in fixed point, for which only kernels that accumulate integers exist.
bool has_fusible_weights(const GraphEditor& editor, const Node& conv);

// Returns whether the match is a depthwise convolution in one or two dimensions with constant weights, as
// many output as input channels, and no residual or scale.
bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv);

// Returns whether the match is a 1x1 convolution with constant weights and without a scale. It may have a
// residual.
bool is_product(const GraphEditor& editor, const Match<Conv>& conv);

// Matches a ByteTable at `index` of 256 constant entries that is the only reader of the rounded results of a
// convolution, all of which are its numbers. The convolution has constant weights.
Match<ByteTable> match_table_of_layer(const GraphEditor& editor, size_t index);
// Returns whether the only reader of `value` is such a table.
bool is_read_by_table(const GraphEditor& editor, ValueId value);

Window2d window_of(const GraphEditor& editor, const Match<Conv>& conv);

// Returns input `slot` of the node, or kNoValue if it has fewer inputs.
ValueId input_or_none(const Node& node, size_t slot);
// Returns `count` inputs from `first` on, as input_or_none() does.
std::vector<ValueId> inputs_or_none(const Node& node, size_t first, size_t count);

}  // namespace vellum
