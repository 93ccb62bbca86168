// Chains of operators that only move elements (Transpose, Slice, Split, Gather of one index, with Reshapes
// between them) become one AsStrided for each value that other operators read: one dispatch from the layout
// of the chain's source to that of its readers. Attention that reads the source beside such a copy of all of
// it reads the copy, so that the memory of the source is free earlier.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/as_strided.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A part at a multiple of this offset may become a view of the memory of the whole (plan/views.hpp): 256
// bytes of halves.
constexpr int64_t kViewAlignment = 128;

// Returns whether the node may be part of a view.
bool is_move(const GraphEditor& editor, size_t index) {
  if (match_node<Gather>(editor, index)) {
    const HostTensor* at = editor.constant_input(index, 1);
    return at != nullptr && at->shape().empty();
  }
  return match_node<Transpose>(editor, index) || match_node<Slice>(editor, index) ||
         match_node<Split>(editor, index) || match_node<ReshapeFamily>(editor, index);
}

// The nodes between a value and the source of its view, the last one first.
struct Chain {
  ViewedValue viewed;
  std::vector<size_t> nodes;
};

Chain chain_of(const GraphEditor& editor, ValueId value) {
  Chain chain{view_of(editor, value), {}};
  for (ValueId at = value; at != chain.viewed.source; at = editor.node(chain.nodes.back()).inputs[0])
    chain.nodes.push_back(*editor.producer(at));
  return chain;
}

// Returns the first element of the part that a node picks of its input, if the part is contiguous in memory.
std::optional<int64_t> contiguous_part(const GraphEditor& editor, size_t index, ValueId output) {
  const Node& node = editor.node(index);
  const Shape& shape = editor.type(node.inputs[0]).shape;
  const auto outermost =
      static_cast<size_t>(std::ranges::find_if(shape, [](int64_t size) { return size > 1; }) - shape.begin());
  const auto inputs = operator_inputs(editor.graph(), node);
  if (outermost == shape.size()) return std::nullopt;
  const int64_t inner = product(shape, outermost + 1, shape.size());
  if (const auto split = match_node<Split>(editor, index)) {
    if (normalize_axis(split->axis, shape.size()) != outermost) return std::nullopt;
    const Ints sizes = split->sizes(inputs);
    int64_t begin = 0;
    for (size_t i = 0; node.outputs[i] != output; ++i) begin += sizes[i];
    return begin * inner;
  }
  if (const auto gather = match_node<Gather>(editor, index)) {
    if (normalize_axis(gather->axis, shape.size()) != outermost) return std::nullopt;
    return checked_index(inputs[1].constant->to_ints()[0], shape[outermost]) * inner;
  }
  const auto slice = match_node<Slice>(editor, index);
  if (!slice) return std::nullopt;
  const SliceRange range = slice->range(inputs);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (range.steps[axis] != 1 || (axis > outermost && range.output[axis] != shape[axis]))
      return std::nullopt;
  return range.starts[outermost] * inner;
}

// Returns whether the result of a Transpose is read in parts alone that may become views of its memory, which
// need no dispatch.
bool has_free_parts(const GraphEditor& editor, ValueId whole) {
  if (!match_producer<Transpose>(editor, whole) || editor.is_graph_output(whole)) return false;
  size_t parts = 0;
  for (const size_t reader : editor.readers(whole)) {
    if (!is_move(editor, reader)) return false;
    for (const ValueId output : editor.node(reader).outputs) {
      if (output == kNoValue || !editor.is_read(output)) continue;
      const auto first = contiguous_part(editor, reader, output);
      if (!first || *first % kViewAlignment != 0) return false;
      ++parts;
    }
  }
  return parts > 1;
}

// Returns whether the value is such a part.
bool is_free_part(const GraphEditor& editor, const Chain& chain) {
  for (const size_t index : chain.nodes)
    if (!match_node<ReshapeFamily>(editor, index))
      return has_free_parts(editor, editor.node(index).inputs[0]);
  return false;
}

// Returns whether node `index` is a Reshape of what other nodes read as well. Its result may need no copy
// then.
bool reshapes_shared(const GraphEditor& editor, size_t index) {
  if (!match_node<ReshapeFamily>(editor, index)) return false;
  const ValueId input = editor.node(index).inputs[0];
  const auto source = editor.producer(input);
  return source && is_move(editor, *source) && !editor.only_reader(input);
}

// Returns whether a node other than those that move elements reads the value, or one that needs no copy of
// it.
bool is_needed(const GraphEditor& editor, ValueId value) {
  if (editor.is_graph_output(value) || has_free_parts(editor, value)) return true;
  return std::ranges::any_of(editor.readers(value), [&](size_t reader) {
    return !is_move(editor, reader) || editor.node(reader).inputs[0] != value ||
           reshapes_shared(editor, reader);
  });
}

// Returns whether the value is a matrix of which others compute rows, in another layout than Reshapes give.
bool is_for_rows(const GraphEditor& editor, ValueId value) {
  return editor.type(value).shape.size() == 2 &&
         std::ranges::any_of(editor.readers(value), [&](size_t reader) {
           return match_node<Gemm>(editor, reader) || match_node<LayerNormalization>(editor, reader) ||
                  match_node<Concat>(editor, reader);
         });
}

// Returns whether one dispatch is fewer than those of the chain. A Transpose alone has a kernel between any
// two layouts, but conversions to and from the layouts of Reshapes before it, and before a Gemm, are
// dispatches.
bool is_worth_merging(const GraphEditor& editor, const Chain& chain, ValueId value) {
  size_t moves = 0, transposes = 0;
  for (const size_t index : chain.nodes) {
    moves += match_node<ReshapeFamily>(editor, index) ? 0 : 1;
    transposes += match_node<Transpose>(editor, index) ? 1 : 0;
  }
  if (transposes == 0) return false;
  if (moves > 1) return true;
  if (chain.nodes.size() == 1) return false;
  const bool reshaped_first{match_node<ReshapeFamily>(editor, chain.nodes.back())};
  return (reshaped_first && editor.type(chain.viewed.source).shape.size() <= 4) || is_for_rows(editor, value);
}

void merge_chain(GraphEditor& editor, size_t index, ValueId value) {
  if (value == kNoValue || element_count(editor.type(value).shape) == 0 || !is_needed(editor, value)) return;
  const Chain chain = chain_of(editor, value);
  const StridedView& view = chain.viewed.view;
  if (view.shape.size() > AsStrided::kMostDimensions || !is_worth_merging(editor, chain, value) ||
      is_free_part(editor, chain))
    return;
  auto op = std::make_shared<AsStrided>();
  op->view = view;
  if (editor.node(index).outputs.size() == 1)
    editor.replace(index, std::move(op), {chain.viewed.source});
  else if (!editor.is_graph_output(value))
    editor.replace_reads(value, editor.compute_before(index, editor.graph().values[value].name, std::move(op),
                                                      {chain.viewed.source}, editor.type(value)));
}

// An operand of Attention that may be read from a copy of its source.
struct MovedOperand {
  size_t attention = 0, slot = 0;
  StridedView view;
};

// Returns the operands of Attention that are views of the input of AsStrided `index`, as views of its result.
// Returns nothing if another node needs the input, too, or needs it before.
std::vector<MovedOperand> operands_in_copy(const GraphEditor& editor, size_t index) {
  const ValueId source = editor.node(index).inputs[0];
  const StridedView& whole = match_node<AsStrided>(editor, index)->view;
  if (editor.is_graph_output(source) ||
      element_count(whole.shape) != element_count(editor.type(source).shape))
    return {};
  std::vector<MovedOperand> operands;
  for (const size_t reader : editor.readers(source)) {
    if (reader == index) continue;
    const auto attention = match_node<Attention>(editor, reader);
    if (!attention || !attention->views || attention->has_word_caches()) return {};
    const std::vector<ValueId>& inputs = editor.node(reader).inputs;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      if (inputs[slot] != source) continue;
      const auto view = slot < 3 ? view_in_copy((*attention->views)[slot], whole) : std::nullopt;
      if (!view) return {};
      operands.push_back({reader, slot, *view});
    }
  }
  for (const size_t earlier : editor.nodes()) {
    if (earlier == index) break;
    if (std::ranges::count(operands, earlier, &MovedOperand::attention) > 0) return {};
  }
  return operands;
}

void read_copy(GraphEditor& editor, size_t index) {
  for (const MovedOperand& operand : operands_in_copy(editor, index)) {
    auto attention = std::make_shared<Attention>(*match_node<Attention>(editor, operand.attention).op);
    (*attention->views)[operand.slot] = operand.view;
    std::vector<ValueId> inputs = editor.node(operand.attention).inputs;
    inputs[operand.slot] = editor.node(index).outputs[0];
    editor.replace(operand.attention, std::move(attention), std::move(inputs));
  }
}

void read_copies(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (match_node<AsStrided>(editor, index)) read_copy(editor, index);
  editor.commit();
}

// Attention whose tokens are moved to pixels computes a matrix of tokens, which it stores in the layout of
// pictures. Views count elements, whatever the shape.
void compute_matrix(GraphEditor& editor, size_t index) {
  const auto attention = match_node<Attention>(editor, index);
  if (!attention || !attention->views || !attention->tokens_first) return;
  const ValueId result = attention.node->outputs[0];
  const auto reader = editor.only_reader(result);
  if (!reader || !match_node<AsStrided>(editor, *reader)) return;
  const Shape &q = (*attention->views)[0].shape, &v = (*attention->views)[2].shape;
  const TensorType matrix{editor.type(result).dtype, {q[0] * q[2], q[1] * v[3]}};
  if (v[3] % 4 != 0 || matrix == editor.type(result)) return;
  auto op = std::make_shared<Attention>(*attention.op);
  op->output = matrix.shape;
  const Node node = *attention.node;
  editor.replace_reads(result, editor.compute_before(index, node.name, std::move(op), node.inputs, matrix));
  editor.remove(index);
}

void compute_matrices(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) compute_matrix(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace

void merge_moves(Graph& graph) {
  GraphEditor editor(graph);
  // Backwards: a chain still contains the nodes of shorter ones.
  for (const size_t index : editor.nodes_backwards()) {
    if (!is_move(editor, index) || reshapes_shared(editor, index)) continue;
    const std::vector<ValueId> outputs = editor.node(index).outputs;
    for (const ValueId output : outputs) merge_chain(editor, index, output);
  }
  editor.commit();
  remove_dead_code(graph);
  read_copies(graph);
  compute_matrices(graph);
}

}  // namespace vellum
