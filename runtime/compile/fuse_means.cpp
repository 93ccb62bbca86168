#include "compile/fuse_means.hpp"

#include <memory>
#include <utility>

#include "compile/match_depthwise.hpp"
#include "graph/operators/conv/conv_mean.hpp"
#include "graph/operators/conv/conv_squeeze_excite.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "kernels/conv/conv_mean.hpp"
#include "kernels/conv/conv_squeeze_excite.hpp"

namespace vellum {
namespace {

bool has_constant_products(const GraphEditor& editor, const Node& squeeze) {
  for (size_t slot = 1; slot < squeeze.inputs.size(); ++slot)
    if (!is_constant_or_absent(editor, squeeze, slot)) return false;
  return true;
}

void fuse_with_convolution(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  const auto squeeze = match_node<SqueezeExcite>(editor, index);
  if (!squeeze || !is_float_value(editor, squeeze.node->outputs[0])) return;
  const auto conv = match_producer<Conv>(editor, squeeze.input(0));
  if (!conv || !is_depthwise(editor, conv) || !has_constant_products(editor, *squeeze.node)) return;
  auto op = std::make_shared<ConvSqueezeExcite>();
  op->conv = *conv.op;
  op->squeeze = *squeeze.op;
  Node node = *conv.node;
  node.inputs.resize(3, kNoValue);
  node.inputs.insert(node.inputs.end(), squeeze.node->inputs.begin() + 1, squeeze.node->inputs.end());
  node.outputs.push_back(squeeze.node->outputs[0]);
  node.op = op;
  if (!takes_means(*op, operator_inputs(editor.graph(), node), caps, precision)) return;
  const size_t first = conv.index;
  editor.remove(index);
  editor.replace(first, std::move(node));
}

// A 1x1 convolution and the means of its pixels, which alone read it.
void fuse_with_pool(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  const auto pool = match_node<GlobalPool>(editor, index);
  if (!pool || pool->kind != PoolKind::average || !is_float_value(editor, pool.node->outputs[0])) return;
  const auto conv = match_producer<Conv>(editor, pool.input(0));
  if (!conv || editor.only_reader(pool.input(0)) != index || !has_constant_weights(editor, *conv.node))
    return;
  auto op = std::make_shared<ConvMean>();
  op->conv = *conv.op;
  Node node = *conv.node;
  node.op = op;
  if (!takes_mean(*op, operator_inputs(editor.graph(), node), caps, precision)) return;
  const size_t first = conv.index;
  editor.replace(index, std::move(op), std::move(node.inputs));
  editor.remove(first);
}

}  // namespace

void fuse_means(Graph& graph, const DeviceCaps& caps, Precision precision) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    fuse_with_convolution(editor, index, caps, precision);
    fuse_with_pool(editor, index, caps, precision);
  }
  editor.commit();
}

}  // namespace vellum
