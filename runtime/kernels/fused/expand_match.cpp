#include "kernels/fused/expand_match.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "kernels/fused/expand.hpp"
#include "kernels/fused/matching.hpp"

namespace vellum {
namespace {

// The nodes of a depthwise convolution, or of one that is already fused with its squeeze-and-excitation, and
// of the table of its results.
struct MatchedDepthwise {
  size_t index = 0;  // the convolution
  std::shared_ptr<const Operator> conv, squeeze;
  Match<ByteTable> table;
};

// Matches what ends with the node at `index`.
std::optional<MatchedDepthwise> match_depthwise(const GraphEditor& editor, size_t index) {
  if (const auto both = match_node<FusedNodes>(editor, index);
      both && both->kernel == FusedKernelId::squeeze_excite)
    return MatchedDepthwise{index, both->body.nodes[0].op, both->body.nodes[1].op, {}};
  if (const auto table = match_table_of_layer(editor, index)) {
    const auto conv = match_producer<Conv>(editor, table.input(0));
    if (!conv || !is_depthwise(editor, conv)) return std::nullopt;
    return MatchedDepthwise{conv.index, conv.node->op, nullptr, table};
  }
  const auto conv = match_node<Conv>(editor, index);
  if (!conv || !is_depthwise(editor, conv) || is_read_by_table(editor, conv.node->outputs[0]))
    return std::nullopt;
  return MatchedDepthwise{index, conv.node->op, nullptr, {}};
}

}  // namespace

std::optional<ExpandLayers> match_expand_layers(const GraphEditor& editor, size_t index) {
  if (editor.removed(index)) return std::nullopt;
  const auto depthwise = match_depthwise(editor, index);
  if (!depthwise) return std::nullopt;
  const Node& filter = editor.node(depthwise->index);
  const auto producer = editor.producer(filter.inputs[0]);
  if (!producer || editor.only_reader(filter.inputs[0]) != depthwise->index) return std::nullopt;
  const Match<ByteTable> middle = match_table_of_layer(editor, *producer);
  const auto product = match_producer<Conv>(editor, middle ? middle.input(0) : filter.inputs[0]);
  if (!product || product.node->inputs.size() > 3 || !is_product(editor, product)) return std::nullopt;
  if (!is_float_value(editor, filter.outputs[0]) || (depthwise->squeeze && middle)) return std::nullopt;
  const ExpandTables tables{middle ? middle.node->op : nullptr,
                            depthwise->table ? depthwise->table.node->op : nullptr};
  Node node{editor.node(index).name,
            expand_nodes(product.node->op, depthwise->conv, depthwise->squeeze, tables),
            inputs_or_none(*product.node, 0, 3), editor.node(index).outputs};
  std::ranges::copy(inputs_or_none(filter, 1, std::max<size_t>(filter.inputs.size(), 3) - 1),
                    std::back_inserter(node.inputs));
  ExpandLayers layers{{index, std::move(node), {product.index}}, product.index, depthwise->index};
  FusedMatch& match = layers.match;
  if (depthwise->table) match.removed.push_back(depthwise->index);
  if (middle) match.removed.push_back(middle.index);
  if (!middle && !depthwise->table) return layers;
  for (const Match<ByteTable>& table : {middle, depthwise->table})
    match.node.inputs.push_back(table ? table.input(1) : kNoValue);
  return layers;
}

}  // namespace vellum
