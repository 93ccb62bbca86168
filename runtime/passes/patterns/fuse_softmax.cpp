#include <memory>
#include <optional>

#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The only axis that `value` is a reduction of `input` over, where it stays as a dimension of 1.
std::optional<size_t> reduced_axis(const GraphEditor& editor, ValueId value, ReduceKind kind, ValueId input) {
  const auto reduce = match_producer<Reduce>(editor, value);
  if (!reduce || reduce->kind != kind || !reduce->keep_dims) return std::nullopt;
  const auto axes = reduce->reduced_axes(operator_inputs(editor.graph(), *reduce.node));
  return reduce.input() == input && axes.size() == 1 ? std::optional(axes[0]) : std::nullopt;
}

// exp(x) / sum(exp(x)). Where x is a tensor minus its maximum, that tensor has the same softmax.
void replace_by_softmax(GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  const auto quotient = match_binary(editor, output, BinaryKind::div);
  const auto exponent = quotient ? match_unary(editor, (*quotient)[0], UnaryKind::exp) : std::nullopt;
  if (!exponent) return;
  const auto axis = reduced_axis(editor, (*quotient)[1], ReduceKind::sum, (*quotient)[0]);
  if (!axis) return;
  ValueId input = *exponent;
  if (const auto difference = match_binary(editor, input, BinaryKind::sub)) {
    if (reduced_axis(editor, (*difference)[1], ReduceKind::max, (*difference)[0]) == axis)
      input = (*difference)[0];
  }
  if (editor.type(input) != editor.type(output)) return;
  auto op = std::make_shared<Softmax>();
  op->axis = static_cast<int64_t>(*axis);
  editor.replace(index, std::move(op), {input});
}

}  // namespace

void fuse_softmax(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (is_float_binary(editor, index)) replace_by_softmax(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
