// Rows divided by their Euclidean length, at least epsilon (torch's normalize: attention by cosines).
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/movement/gather.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The normalisation adds epsilon squared to the sum of squares, in place of the larger of two lengths: the
// same but for lengths near epsilon, which must be so small that nothing but rounding has them.
constexpr float kLargestEpsilon = 1e-8f;

// The operand of max(x, epsilon), and epsilon; `value` itself, and 0, where it is another one.
std::pair<ValueId, float> match_lower_bound(const GraphEditor& editor, ValueId value) {
  const auto applied = match_activation(editor, value);
  const bool is_bound = applied && applied->activation.kind == ActivationKind::clip &&
                        applied->activation.beta >= std::numeric_limits<float>::max();
  return is_bound ? std::pair(applied->input, applied->activation.alpha) : std::pair(value, 0.0f);
}

// x of sqrt(sum of x^2) along the last axis, which stays as a dimension of 1.
std::optional<ValueId> match_length(const GraphEditor& editor, ValueId value) {
  const auto reduce = match_producer<Reduce>(editor, value);
  if (!reduce || reduce->kind != ReduceKind::l2 || !reduce->keep_dims) return std::nullopt;
  const size_t rank = editor.type(reduce.input()).shape.size();
  const auto axes = reduce->reduced_axes(operator_inputs(editor.graph(), *reduce.node));
  return axes == std::vector<size_t>{rank - 1} ? std::optional(reduce.input()) : std::nullopt;
}

void replace_by_row_norm(GraphEditor& editor, size_t index) {
  const auto quotient = match_binary_node(editor, index, BinaryKind::div);
  if (!quotient) return;
  const ValueId x = quotient.input(0);
  ValueId divisor = quotient.input(1);
  if (const auto expand = match_producer<Expand>(editor, divisor)) divisor = expand.input();
  const auto [length, epsilon] = match_lower_bound(editor, divisor);
  if (match_length(editor, length) != x || !(epsilon >= 0.0f) || epsilon > kLargestEpsilon) return;
  const TensorType type = editor.type(x);
  if (editor.type(quotient.node->outputs[0]) != type || element_count(type.shape) == 0) return;
  const auto channels = static_cast<float>(type.shape.back());
  auto op = std::make_shared<LayerNormalization>();
  op->centred = false;
  op->epsilon = epsilon * epsilon / channels;
  const std::vector<float> scale(static_cast<size_t>(type.shape.back()), 1.0f / std::sqrt(channels));
  const ValueId factors = editor.add_constant(
      editor.node(index).name + "/scale", HostTensor::from<float>(type.dtype, {type.shape.back()}, scale));
  editor.replace(index, std::move(op), {x, factors});
}

}  // namespace

void fuse_length_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (is_float_binary(editor, index)) replace_by_row_norm(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
