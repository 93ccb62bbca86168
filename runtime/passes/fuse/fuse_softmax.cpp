#include <memory>
#include <optional>

#include "graph/operators/reduce.hpp"
#include "graph/operators/softmax.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

// The one axis along which `value` is a reduction of `input`, with that axis kept as 1.
std::optional<size_t> reduced_axis(const GraphEditor& editor, ValueId value, ReduceKind kind, ValueId input) {
  const auto* op = producer_as<Reduce>(editor, value);
  if (op == nullptr || op->kind != kind || !op->keep_dims) return std::nullopt;
  const Node& node = editor.node(*editor.producer(value));
  const auto axes = op->reduced_axes(operator_inputs(editor.graph(), node));
  return node.inputs[0] == input && axes.size() == 1 ? std::optional(axes[0]) : std::nullopt;
}

// exp(x) / sum(exp(x)), where x may be another tensor less its maximum, which changes nothing but the range.
void match(GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  const auto quotient = undo_binary(editor, output, BinaryKind::div);
  const auto exponent = quotient ? undo_unary(editor, (*quotient)[0], UnaryKind::exp) : std::nullopt;
  if (!exponent) return;
  const auto axis = reduced_axis(editor, (*quotient)[1], ReduceKind::sum, (*quotient)[0]);
  if (!axis) return;
  ValueId input = *exponent;
  if (const auto difference = undo_binary(editor, input, BinaryKind::sub)) {
    if (reduced_axis(editor, (*difference)[1], ReduceKind::max, (*difference)[0]) == axis)
      input = (*difference)[0];
  }
  if (editor.type(input) != editor.type(output)) return;
  auto op = std::make_shared<Softmax>();
  op->axis = static_cast<int64_t>(*axis);
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, {input});
}

}  // namespace

void fuse_softmax(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    const auto* op = dynamic_cast<const Binary*>(editor.node(i).op.get());
    if (op != nullptr && is_float_value(editor, editor.node(i).outputs[0])) match(editor, i);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
