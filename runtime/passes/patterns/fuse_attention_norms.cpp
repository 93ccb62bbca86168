// Attention by cosines, and other attention whose queries and keys are normalised: the kernel normalises them
// while it gathers them, and reads the product before the normalisation.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A view that has each element of a tensor once: for each of its axes (batch, head, token, channel) the
// tensor's axis, or nothing where the axis has one element.
using AxesOfView = std::array<std::optional<size_t>, 4>;

// Nothing if the view is no permutation of the tensor's axes with the last one as channels.
std::optional<AxesOfView> axes_of(const StridedView& view, const Shape& shape) {
  if (view.offset != 0 || element_count(view.shape) != element_count(shape)) return std::nullopt;
  const std::vector<int64_t> strides = row_major_strides(shape);
  AxesOfView axes;
  for (size_t i = 0; i < 4; ++i) {
    if (view.shape[i] == 1) continue;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == view.shape[i] && strides[axis] == view.strides[i]) axes[i] = axis;
    if (!axes[i]) return std::nullopt;
  }
  return axes[3] == shape.size() - 1 ? std::optional(axes) : std::nullopt;
}

// Returns the factors (head, channel) that a constant multiplies a tensor by, which has the view's elements.
// Nothing if they differ among images or tokens.
std::optional<std::vector<float>> factors_of_heads(const HostTensor& constant, const Shape& tensor,
                                                   const StridedView& view, const AxesOfView& axes) {
  const std::vector<int64_t> strides = broadcast_strides(constant.shape(), tensor);
  const auto stride = [&](size_t i) { return axes[i] ? strides[*axes[i]] : 0; };
  if (stride(0) != 0 || stride(2) != 0) return std::nullopt;
  return gather_strided(constant, {view.shape[1], view.shape[3]}, {stride(1), stride(3)}, 0).to_floats();
}

struct NormalisedOperand {
  OperandNorm norm;
  ViewedValue rows;  // before the normalisation
};

// Composes the view of a tensor with that of the value from which the tensor is rearranged.
StridedView composed(const StridedView& view, const AxesOfView& axes, const StridedView& tensor) {
  StridedView result{tensor.offset, view.shape, std::vector<int64_t>(4, 0)};
  for (size_t i = 0; i < 4; ++i)
    if (axes[i]) result.strides[i] = tensor.strides[*axes[i]];
  return result;
}

// Matches the normalisation of an operand, and a product with constant factors of the heads after it.
std::optional<NormalisedOperand> match_norm(const GraphEditor& editor, ValueId value,
                                            const StridedView& view) {
  const TensorType type = editor.type(value);
  const auto axes = axes_of(view, type.shape);
  if (!axes) return std::nullopt;
  std::vector<float> factors(static_cast<size_t>(view.shape[1] * view.shape[3]), 1.0f);
  const auto multiply = [&](const HostTensor& constant) {
    const auto added = factors_of_heads(constant, type.shape, view, *axes);
    for (size_t i = 0; added && i < factors.size(); ++i) factors[i] *= (*added)[i];
    return added.has_value();
  };
  const auto source = editor.producer(value);
  if (const auto product = source ? match_binary_constant(editor, *source) : std::nullopt;
      product && product->op->kind == BinaryKind::mul) {
    const ValueId operand = editor.node(*source).inputs[product->data_slot];
    if (!editor.only_reader(value) || editor.type(operand) != type || !multiply(*product->constant))
      return std::nullopt;
    value = operand;
  }
  const auto norm = match_producer<LayerNormalization>(editor, value);
  if (!norm || norm->centred || norm->output_count > 1 || norm.node->inputs.size() != 2) return std::nullopt;
  const HostTensor* scale = editor.constant(norm.input(1));
  const bool is_of_rows = normalize_axis(norm->axis, type.shape.size()) == type.shape.size() - 1;
  if (!is_of_rows || scale == nullptr || !editor.only_reader(value) || !multiply(*scale)) return std::nullopt;
  ViewedValue rows = view_of(editor, norm.input(0));
  rows.view = composed(view, *axes, rows.view);
  return NormalisedOperand{{norm->epsilon, std::move(factors)}, std::move(rows)};
}

void take_norms(GraphEditor& editor, size_t index) {
  const auto attention = match_node<Attention>(editor, index);
  if (!attention || !attention->views || attention->has_word_caches()) return;
  if (attention->q_rounding || attention->k_rounding || attention->q_norm || attention->k_norm) return;
  std::vector<ValueId> inputs = attention.node->inputs;
  const bool has_lengths = inputs.size() > 4 && inputs[4] != kNoValue;
  if (has_lengths || inputs[0] == inputs[1]) return;  // a kernel reads caches in place
  const auto q = match_norm(editor, inputs[0], (*attention->views)[0]),
             k = match_norm(editor, inputs[1], (*attention->views)[1]);
  if (!q || !k) return;
  auto op = std::make_shared<Attention>(*attention.op);
  op->q_norm = q->norm;
  op->k_norm = k->norm;
  (*op->views)[0] = q->rows.view;
  (*op->views)[1] = k->rows.view;
  inputs[0] = q->rows.source;
  inputs[1] = k->rows.source;
  editor.replace(index, std::move(op), std::move(inputs));
}

}  // namespace

void fuse_attention_norms(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) take_norms(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
