#include <memory>

#include "graph/operators/binary.hpp"
#include "graph/operators/conv.hpp"
#include "graph/operators/matmul.hpp"
#include "graph/operators/pad.hpp"
#include "passes/rewrite/editor.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

// The products whose kernel adds a residual: of weights that are known, with a bias that is the same in all
// rows.
bool takes_residual(const GraphEditor& editor, const Node& node, const Gemm& gemm) {
  if (gemm.activation || gemm.transpose_a || node.inputs.size() > 3) return false;
  if (!is_known_input(editor, node, 1) || !is_known_input(editor, node, 2)) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  const Shape& bias = editor.type(node.inputs[2]).shape;
  return bias.size() < 2 || bias[0] == 1;
}

// The convolutions whose kernel adds a residual: over a line or a plane.
bool takes_residual(const GraphEditor& editor, const Node& node) {
  if (const auto* gemm = dynamic_cast<const Gemm*>(node.op.get())) return takes_residual(editor, node, *gemm);
  const auto* conv = dynamic_cast<const Conv*>(node.op.get());
  if (conv == nullptr || conv->activation || node.inputs.size() > 3) return false;
  return editor.type(node.inputs[0]).shape.size() <= 4 && editor.constant(node.inputs[1]) != nullptr;
}

// The tensor that `value` holds, less channels that a Pad put behind it as zeros: those the Conv adds itself.
ValueId without_padded_channels(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto* pad = source ? dynamic_cast<const Pad*>(editor.node(*source).op.get()) : nullptr;
  if (pad == nullptr || pad->mode != PadMode::constant) return value;
  const auto inputs = operator_inputs(editor.graph(), editor.node(*source));
  const bool known = inputs.size() < 3 || !inputs[2].present || inputs[2].constant != nullptr;
  if (!known || pad->padding_value(inputs).to_floats()[0] != 0.0f) return value;
  const PadAmounts amounts = pad->amounts(inputs);
  for (size_t axis = 0; axis < amounts.begin.size(); ++axis) {
    if (amounts.begin[axis] != 0 || amounts.end[axis] < 0 || (axis != 1 && amounts.end[axis] != 0))
      return value;
  }
  return editor.node(*source).inputs[0];
}

// The Add becomes the Conv or Gemm, not the other way round: what it adds may be computed after that was.
bool fuse_operand(GraphEditor& editor, size_t index, size_t slot) {
  const ValueId result = editor.node(index).inputs[slot], other = editor.node(index).inputs[1 - slot];
  const ValueId output = editor.node(index).outputs[0];
  const auto source = editor.producer(result);
  if (!source || editor.only_reader(result) != index || !takes_residual(editor, editor.node(*source)))
    return false;
  if (editor.type(result) != editor.type(output) || editor.type(other) != editor.type(output)) return false;
  auto inputs = editor.node(*source).inputs;
  inputs.resize(3, kNoValue);
  const bool is_conv = dynamic_cast<const Conv*>(editor.node(*source).op.get()) != nullptr;
  inputs.push_back(is_conv ? without_padded_channels(editor, other) : other);
  const auto op = editor.node(*source).op;
  editor.remove(*source);
  editor.set_operator(index, op);
  editor.set_inputs(index, std::move(inputs));
  return true;
}

}  // namespace

void fuse_residual(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    const auto* add = editor.removed(i) ? nullptr : dynamic_cast<const Binary*>(editor.node(i).op.get());
    if (add == nullptr || add->kind != BinaryKind::add || add->activation) continue;
    if (!is_float_value(editor, editor.node(i).outputs[0])) continue;
    if (!fuse_operand(editor, i, 0)) fuse_operand(editor, i, 1);
  }
  editor.commit();
}

}  // namespace vellum
