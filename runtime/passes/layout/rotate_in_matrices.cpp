// Rotated queries and keys of attention whose values are a matrix of tokens: one RotateChannels computes a
// matrix of both, in which a head is a range of columns, so that attention reads all operands in place.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/rotate_channels.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Heads that a RotateChannels with a constant table computes for one operand of attention.
struct RotatedHeads {
  size_t node = 0;
  ValueId source = kNoValue;
  StridedView view;
  Ints partner;
  HostTensor table;
  DType dtype = DType::f32;
};

// Returns whether `view` has the elements of a tensor of shape `view.shape` in their order.
bool is_whole_tensor(const StridedView& view) {
  const std::vector<int64_t> strides = row_major_strides(view.shape);
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (view.shape[axis] != 1 && view.strides[axis] != strides[axis]) return false;
  return view.offset == 0;
}

std::optional<RotatedHeads> rotated_heads(const GraphEditor& editor, size_t attention, ValueId value,
                                          const StridedView& read) {
  const auto rotation = match_producer<RotateChannels>(editor, value);
  if (!rotation || editor.only_reader(value) != attention) return std::nullopt;
  const HostTensor* table = editor.constant_input(rotation.index, 1);
  if (table == nullptr || rotation->view.shape != read.shape || !is_whole_tensor(read)) return std::nullopt;
  if (read.shape[3] % 4 != 0) return std::nullopt;
  return RotatedHeads{rotation.index,    rotation.input(), rotation->view,
                      rotation->partner, *table,           editor.type(value).dtype};
}

bool are_equal(const HostTensor& a, const HostTensor& b) {
  return a.shape() == b.shape() && a.to_floats() == b.to_floats();
}

// Appends the heads of `k` to those of `q` if they follow them in the same tensor and turn by the same
// angles.
bool append_heads(RotatedHeads& q, const RotatedHeads& k) {
  const Shape &qs = q.view.shape, &ks = k.view.shape;
  const bool alike = q.source == k.source && q.view.strides == k.view.strides && q.partner == k.partner &&
                     qs[0] == ks[0] && qs[2] == ks[2] && qs[3] == ks[3] &&
                     k.view.offset == q.view.offset + qs[1] * q.view.strides[1];
  if (!alike || q.table.shape()[1] != 1 || !are_equal(q.table, k.table)) return false;
  q.view.shape[1] += ks[1];
  return true;
}

// Computes the heads as a matrix of tokens: the operator takes tokens for heads, and heads for tokens.
ValueId rotate_rows(GraphEditor& editor, size_t attention, const RotatedHeads& heads) {
  const auto& [offset, shape, strides] = heads.view;
  const Shape& table = heads.table.shape();
  const std::vector<int64_t> steps = row_major_strides(table);
  const std::string name = editor.graph().values[heads.source].name + "/rotated";
  const ValueId turned = editor.add_constant(
      name + "/table", gather_strided(heads.table, {table[0], table[2], table[1], table[3]},
                                      {steps[0], steps[2], steps[1], steps[3]}, 0));
  auto op = std::make_shared<RotateChannels>();
  op->view = {
      offset, {shape[0], shape[2], shape[1], shape[3]}, {strides[0], strides[2], strides[1], strides[3]}};
  op->partner = heads.partner;
  op->output = {shape[0] * shape[2], shape[1] * shape[3]};
  const Shape output = op->output;
  return editor.compute_before(attention, name, std::move(op), {heads.source, turned}, {heads.dtype, output});
}

// The heads `first` to `first` + `heads.shape[1]` of a matrix that has `all` heads.
StridedView view_in_matrix(const StridedView& heads, int64_t first, int64_t all) {
  const int64_t channels = heads.shape[3], width = all * channels;
  return {first * channels, heads.shape, {heads.shape[2] * width, channels, width, 1}};
}

void rotate_in_matrix(GraphEditor& editor, size_t index) {
  const auto attention = match_node<Attention>(editor, index);
  if (!attention || !attention->views || attention->has_word_caches()) return;
  std::vector<ValueId> inputs = attention.node->inputs;
  if (inputs.size() > 4 && inputs[4] != kNoValue) return;  // caches
  if (editor.type(inputs[2]).shape.size() != 2) return;
  auto op = std::make_shared<Attention>(*attention.op);
  auto& [q_view, k_view, v_view] = *op->views;
  auto q = rotated_heads(editor, index, inputs[0], q_view),
       k = rotated_heads(editor, index, inputs[1], k_view);
  if (!q || !k) return;
  const bool joined = append_heads(*q, *k);
  const int64_t all = q->view.shape[1];
  q_view = view_in_matrix(q_view, 0, all);
  k_view = joined ? view_in_matrix(k_view, q_view.shape[1], all) : view_in_matrix(k_view, 0, k_view.shape[1]);
  inputs[0] = rotate_rows(editor, index, *q);
  inputs[1] = joined ? inputs[0] : rotate_rows(editor, index, *k);
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, std::move(inputs));
  editor.remove(q->node);
  editor.remove(k->node);
}

}  // namespace

void rotate_in_matrices(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) rotate_in_matrix(editor, index);
  editor.commit();
}

}  // namespace vellum
