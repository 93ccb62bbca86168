// Several operators that rearrange rows of tokens become one Gather. Swin (Liu et al., arXiv 2103.14030,
// section 3.2) shifts its windows by Slices and Concats, partitions them by a Transpose, and merges patches
// by Slices and a Concat. Row numbers go through the same operators on the host, and end up as the rows to
// gather.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Row numbers are a table in device memory, which must be small beside the rows.
constexpr int64_t kMostRows = int64_t{1} << 20, kLeastLength = 8;
// Nodes visited for one value. The windows of Swin need nine.
constexpr size_t kMostNodes = 64;

bool copies(const Operator& op) {
  return dynamic_cast<const Transpose*>(&op) || dynamic_cast<const Slice*>(&op) ||
         dynamic_cast<const Concat*>(&op);
}

bool rearranges(const Operator& op) { return copies(op) || dynamic_cast<const ReshapeFamily*>(&op); }

// Values as rows of `source`, a row being its last dimension.
class Rows {
 public:
  Rows(const GraphEditor& editor, ValueId source)
      : editor_(editor), source_(source), length_(editor.type(source).shape.back()) {}

  // The row numbers that make up `value`, in its shape with the last dimension divided by the length of a
  // row. Null where the value is anything else.
  const HostTensor* numbers_of(ValueId value) {
    auto known = known_.find(value);
    if (known == known_.end()) {
      if (known_.size() + depth_ > kMostNodes) return nullptr;
      ++depth_;
      std::optional<HostTensor> numbers = find(value);
      --depth_;
      known = known_.emplace(value, std::move(numbers)).first;
    }
    return known->second ? &*known->second : nullptr;
  }
  // The nodes between `source` and the values asked for.
  const std::set<size_t>& nodes() const { return nodes_; }

 private:
  std::optional<Shape> shape_in_rows(ValueId value) const {
    Shape shape = editor_.type(value).shape;
    if (shape.empty() || shape.back() % length_ != 0) return std::nullopt;
    shape.back() /= length_;
    if (element_count(shape) > kMostRows) return std::nullopt;
    return shape;
  }

  std::optional<HostTensor> find(ValueId value) {
    const auto shape = shape_in_rows(value);
    if (!shape) return std::nullopt;
    if (value == source_) return all_rows(*shape);
    const auto index = editor_.producer(value);
    if (!index || !rearranges(*editor_.node(*index).op) || editor_.node(*index).outputs.size() != 1)
      return std::nullopt;
    auto numbers = through(editor_.node(*index), *shape);
    if (!numbers || numbers->shape() != *shape) return std::nullopt;
    nodes_.insert(*index);
    return numbers;
  }

  static HostTensor all_rows(const Shape& shape) {
    std::vector<int64_t> numbers(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    return HostTensor::i64(shape, numbers);
  }

  // Applies the operator to row numbers as it applies to rows. A Transpose or Slice must not touch the last
  // dimension.
  std::optional<HostTensor> through(const Node& node, const Shape& shape) {
    std::vector<const HostTensor*> inputs;
    const bool joins = dynamic_cast<const Concat*>(node.op.get()) != nullptr;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      inputs.push_back(i == 0 || joins ? numbers_of(input) : editor_.constant(input));
      if (inputs.back() == nullptr && input != kNoValue) return std::nullopt;
    }
    if (dynamic_cast<const ReshapeFamily*>(node.op.get()) != nullptr) return inputs[0]->reshaped(shape);
    const Shape &from = editor_.type(node.inputs[0]).shape, &to = editor_.type(node.outputs[0]).shape;
    if (!joins && (from.size() != to.size() || from.back() != to.back())) return std::nullopt;
    if (const auto* transpose = dynamic_cast<const Transpose*>(node.op.get()))
      if (transpose->permutation(from.size()).back() != from.size() - 1) return std::nullopt;
    if (dynamic_cast<const Slice*>(node.op.get()) != nullptr && !keeps_last_dimension(node))
      return std::nullopt;
    return node.op->evaluate(inputs)[0];
  }

  bool keeps_last_dimension(const Node& node) const {
    const SliceRange range =
        dynamic_cast<const Slice&>(*node.op).range(operator_inputs(editor_.graph(), node));
    return range.starts.back() == 0 && range.steps.back() == 1;
  }

  const GraphEditor& editor_;
  ValueId source_;
  int64_t length_;
  std::map<ValueId, std::optional<HostTensor>> known_;
  std::set<size_t> nodes_;
  size_t depth_ = 0;
};

// The value that `value` is rearranged from, by the first input of each operator.
ValueId rearranged_from(const GraphEditor& editor, ValueId value) {
  for (size_t i = 0; i < kMostNodes; ++i) {
    const auto index = editor.producer(value);
    if (!index || !rearranges(*editor.node(*index).op)) break;
    value = editor.node(*index).inputs[0];
  }
  return value;
}

// Whether the node is a layer over the last dimension: its values are tokens, not planes of an image.
bool is_of_tokens(const GraphEditor& editor, size_t index) {
  if (match_node<LayerNormalization>(editor, index)) return true;
  const HostTensor* matrix = match_node<MatMul>(editor, index) ? editor.constant_input(index, 1) : nullptr;
  return matrix != nullptr && matrix->shape().size() == 2;
}

bool comes_from_tokens(const GraphEditor& editor, ValueId source) {
  const auto index = editor.producer(source);
  if (!index) return false;
  if (is_of_tokens(editor, *index)) return true;
  if (!match_node<Binary>(editor, *index)) return false;
  for (const ValueId operand : editor.node(*index).inputs)
    if (const auto before = editor.producer(operand); before && is_of_tokens(editor, *before)) return true;
  return false;
}

bool goes_to_tokens(const GraphEditor& editor, ValueId value) {
  const auto& readers = editor.readers(value);
  return std::any_of(readers.begin(), readers.end(),
                     [&](size_t reader) { return is_of_tokens(editor, reader); });
}

// How many of the nodes copy, and are read by nobody but each other once `last` is replaced.
size_t copies_saved(const GraphEditor& editor, const std::set<size_t>& nodes, size_t last) {
  size_t count = 0;
  for (const size_t index : nodes) {
    const ValueId output = editor.node(index).outputs[0];
    const auto& readers = editor.readers(output);
    const bool alone =
        !editor.is_graph_output(output) &&
        std::all_of(readers.begin(), readers.end(), [&](size_t reader) { return nodes.contains(reader); });
    if ((alone || index == last) && copies(*editor.node(index).op)) ++count;
  }
  return count;
}

struct Move {
  ValueId source = kNoValue;
  HostTensor rows;
};

// The rows that the output of node `last` consists of, where one Gather replaces at least two copies. Adds
// the nodes in between to `nodes`.
std::optional<Move> match_move(const GraphEditor& editor, size_t last, std::set<size_t>& nodes) {
  const Node& node = editor.node(last);
  if (!rearranges(*node.op) || node.outputs.size() != 1 || !is_float_value(editor, node.outputs[0]))
    return std::nullopt;
  const ValueId source = rearranged_from(editor, node.outputs[0]);
  const Shape& shape = editor.type(source).shape;
  if (shape.empty() || shape.back() < kLeastLength || shape.back() % 4 != 0 || element_count(shape) == 0 ||
      element_count(shape) / shape.back() > kMostRows)
    return std::nullopt;
  if (!comes_from_tokens(editor, source) && !goes_to_tokens(editor, node.outputs[0])) return std::nullopt;
  Rows rows(editor, source);
  const HostTensor* numbers = rows.numbers_of(node.outputs[0]);
  if (numbers == nullptr || numbers->elements() == 0 || copies_saved(editor, rows.nodes(), last) < 2)
    return std::nullopt;
  nodes.insert(rows.nodes().begin(), rows.nodes().end());
  return Move{source, numbers->reshaped({numbers->elements()})};
}

using Moves = std::map<size_t, Move>;  // by the last node of each

// From the last node on: nodes that one move replaces need no move of their own.
Moves match_moves(const GraphEditor& editor) {
  Moves moves;
  std::set<size_t> replaced;
  for (const size_t index : editor.nodes_backwards()) {
    if (replaced.contains(index)) continue;
    if (auto move = match_move(editor, index, replaced)) moves.emplace(index, std::move(*move));
  }
  return moves;
}

// Node `last` becomes a Reshape of the gathered rows.
void gather(GraphEditor& editor, size_t last, Move move) {
  const std::string name = editor.node(last).name;
  const TensorType source = editor.type(move.source);
  const int64_t length = source.shape.back(), count = move.rows.elements();
  const Shape matrix{element_count(source.shape) / length, length};
  const ValueId rows = editor.compute_before(last, name + "/matrix", reshape_to(matrix), {move.source},
                                             {source.dtype, matrix});
  const ValueId table = editor.add_constant(name + "/rows", std::move(move.rows));
  const ValueId gathered = editor.compute_before(last, name + "/gathered", std::make_shared<Gather>(),
                                                 {rows, table}, {source.dtype, {count, length}});
  editor.replace(last, reshape_to(editor.type(editor.node(last).outputs[0]).shape), {gathered});
}

}  // namespace

void gather_rows(Graph& graph) {
  GraphEditor editor(graph);
  Moves moves = match_moves(editor);
  if (moves.empty()) return;
  for (auto& [last, move] : moves) gather(editor, last, std::move(move));
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
