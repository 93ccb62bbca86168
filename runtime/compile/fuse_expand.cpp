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

void fuse_with_product(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  auto op = std::make_shared<ExpandConv>();
  if (!take_depthwise(editor, index, *op)) return;
  Node node = editor.graph().nodes[index];
  const auto product = match_producer<Conv>(editor, node.inputs[0]);
  if (!product || editor.only_reader(node.inputs[0]) != index || product.node->inputs.size() > 3) return;
  if (!is_product(editor, product) || !is_float_value(editor, node.outputs[0])) return;
  op->pointwise = *product.op;
  std::vector<ValueId> inputs = product.node->inputs;
  inputs.resize(3, kNoValue);
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), kNoValue);
  inputs.insert(inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  node.inputs = std::move(inputs);
  node.op = op;
  if (!is_for_one_kernel(*op, operator_inputs(editor.graph(), node), caps, precision)) return;
  const size_t first = product.index;
  editor.replace(index, std::move(node));
  editor.remove(first);
}

}  // namespace

void fuse_expand(Graph& graph, const DeviceCaps& caps, Precision precision) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_with_product(editor, index, caps, precision);
  editor.commit();
}

}  // namespace vellum
