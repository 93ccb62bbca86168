#include "compile/fuse_expand.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "compile/match_depthwise.hpp"
#include "graph/operators/conv/conv_squeeze_excite.hpp"
#include "kernels/conv/expand.hpp"

namespace vellum {
namespace {

// Makes `op` the depthwise convolution of a node and what follows it; false if the node is none.
bool take_depthwise(const GraphEditor& editor, size_t index, ExpandConv& op) {
  if (const auto both = match_node<ConvSqueezeExcite>(editor, index)) {
    op.depthwise = both->conv;
    op.squeeze = both->squeeze;
    return true;
  }
  const auto conv = match_node<Conv>(editor, index);
  if (!conv || !is_depthwise(editor, conv)) return false;
  op.depthwise = *conv.op;
  return true;
}

// An ExpandConv in place of a depthwise convolution, and the number of the 1x1 convolution before it.
struct BothLayers {
  Node node;
  std::shared_ptr<ExpandConv> op;
  size_t first = 0;
};

std::optional<BothLayers> match_both(const GraphEditor& editor, size_t index) {
  auto op = std::make_shared<ExpandConv>();
  if (!take_depthwise(editor, index, *op)) return std::nullopt;
  Node node = editor.graph().nodes[index];
  const auto product = match_producer<Conv>(editor, node.inputs[0]);
  if (!product || editor.only_reader(node.inputs[0]) != index || product.node->inputs.size() > 3)
    return std::nullopt;
  if (!is_product(editor, product) || !is_float_value(editor, node.outputs[0])) return std::nullopt;
  op->pointwise = *product.op;
  std::vector<ValueId> inputs = product.node->inputs;
  inputs.resize(3, kNoValue);
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), kNoValue);
  inputs.insert(inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  node.inputs = std::move(inputs);
  node.op = op;
  return BothLayers{std::move(node), std::move(op), product.index};
}

void fuse_with_product(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  std::optional<BothLayers> both = match_both(editor, index);
  if (!both || !is_for_one_kernel(*both->op, operator_inputs(editor.graph(), both->node), caps, precision))
    return;
  editor.replace(index, std::move(both->node));
  editor.remove(both->first);
}

}  // namespace

std::optional<ExpandDemand> demand_of_both(const GraphEditor& editor, size_t index, Precision precision) {
  const std::optional<BothLayers> both = match_both(editor, index);
  if (!both) return std::nullopt;
  return expand_demand(*both->op, operator_inputs(editor.graph(), both->node), precision);
}

void fuse_expand(Graph& graph, const DeviceCaps& caps, Precision precision) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_with_product(editor, index, caps, precision);
  editor.commit();
}

}  // namespace vellum
