// Rows of tokens that are moved about by several operators: the windows of Swin (Liu et al., arXiv
// 2103.14030, section 3.2) are shifted by Slices and Concats and parted by a Transpose, its patches are
// merged by Slices and a Concat. Where each row comes from is found by moving row numbers through the same
// operators.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/operators/concat.hpp"
#include "graph/operators/gather.hpp"
#include "graph/operators/matmul.hpp"
#include "graph/operators/normalization.hpp"
#include "graph/operators/reshape.hpp"
#include "graph/operators/slice.hpp"
#include "graph/operators/transpose.hpp"
#include "passes/rewrite/node_writer.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

// A table of them takes memory on the device, which is to be little beside the rows.
constexpr int64_t kMostRows = int64_t{1} << 20, kLeastLength = 8;
// That are gone through for one value. Swin's windows take nine.
constexpr size_t kMostNodes = 64;

bool copies(const Operator& op) {
  return dynamic_cast<const Transpose*>(&op) || dynamic_cast<const Slice*>(&op) ||
         dynamic_cast<const Concat*>(&op);
}

bool moves(const Operator& op) { return copies(op) || dynamic_cast<const ReshapeFamily*>(&op); }

// One value as rows of `length` elements of `source`: their numbers, in the value's shape with so many
// elements less in the last dimension. Nothing where it is anything else.
class Rows {
 public:
  Rows(const GraphEditor& editor, ValueId source)
      : editor_(editor), source_(source), length_(editor.type(source).shape.back()) {}

  const HostTensor* of(ValueId value) {
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
  // The nodes that have been gone through.
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
    if (value == source_) return all(*shape);
    const auto index = editor_.producer(value);
    if (!index || !moves(*editor_.node(*index).op) || editor_.node(*index).outputs.size() != 1)
      return std::nullopt;
    auto numbers = through(editor_.node(*index), *shape);
    if (!numbers || numbers->shape() != *shape) return std::nullopt;
    nodes_.insert(*index);
    return numbers;
  }

  static HostTensor all(const Shape& shape) {
    std::vector<int64_t> numbers(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    return HostTensor::i64(shape, numbers);
  }

  // A Transpose or Slice must leave the last dimension alone, and then does the same to row numbers.
  std::optional<HostTensor> through(const Node& node, const Shape& shape) {
    std::vector<const HostTensor*> inputs;
    const bool joins = dynamic_cast<const Concat*>(node.op.get()) != nullptr;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      inputs.push_back(i == 0 || joins ? of(input) : editor_.constant(input));
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

// The value that `value` is moved from, as far as operators of one input and the first inputs of others tell.
ValueId moved_from(const GraphEditor& editor, ValueId value) {
  for (size_t i = 0; i < kMostNodes; ++i) {
    const auto index = editor.producer(value);
    if (!index || !moves(*editor.node(*index).op)) break;
    value = editor.node(*index).inputs[0];
  }
  return value;
}

// Layers over the last dimension: what they read and make are tokens, not planes of an image.
bool is_of_tokens(const GraphEditor& editor, size_t index) {
  const Operator* op = editor.node(index).op.get();
  if (dynamic_cast<const LayerNormalization*>(op) != nullptr) return true;
  const HostTensor* matrix = dynamic_cast<const MatMul*>(op) ? editor.constant_input(index, 1) : nullptr;
  return matrix != nullptr && matrix->shape().size() == 2;
}

bool comes_from_tokens(const GraphEditor& editor, ValueId source) {
  const auto index = editor.producer(source);
  if (!index) return false;
  if (is_of_tokens(editor, *index)) return true;
  if (dynamic_cast<const Binary*>(editor.node(*index).op.get()) == nullptr) return false;
  for (const ValueId operand : editor.node(*index).inputs)
    if (const auto before = editor.producer(operand); before && is_of_tokens(editor, *before)) return true;
  return false;
}

bool goes_to_tokens(const GraphEditor& editor, ValueId value) {
  const auto& readers = editor.readers(value);
  return std::any_of(readers.begin(), readers.end(),
                     [&](size_t reader) { return is_of_tokens(editor, reader); });
}

// How many of the nodes copy and would be read by none but each other and `last`.
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

// What the node's output is moved from, where one Gather is less than what moves it now.
std::optional<Move> find_move(const GraphEditor& editor, size_t last, std::set<size_t>& nodes) {
  const Node& node = editor.node(last);
  if (!moves(*node.op) || node.outputs.size() != 1 || !is_float_value(editor, node.outputs[0]))
    return std::nullopt;
  const ValueId source = moved_from(editor, node.outputs[0]);
  const Shape& shape = editor.type(source).shape;
  if (shape.empty() || shape.back() < kLeastLength || shape.back() % 4 != 0 || element_count(shape) == 0 ||
      element_count(shape) / shape.back() > kMostRows)
    return std::nullopt;
  if (!comes_from_tokens(editor, source) && !goes_to_tokens(editor, node.outputs[0])) return std::nullopt;
  Rows rows(editor, source);
  const HostTensor* numbers = rows.of(node.outputs[0]);
  if (numbers == nullptr || numbers->elements() == 0 || copies_saved(editor, rows.nodes(), last) < 2)
    return std::nullopt;
  nodes = rows.nodes();
  return Move{source, numbers->reshaped({numbers->elements()})};
}

using Moves = std::map<size_t, Move>;  // by the last node of each

// From the last node on, so that what one of them goes through is not looked at again.
Moves find_moves(Graph& graph) {
  Moves moves;
  const GraphEditor editor(graph);
  std::set<size_t> done;
  for (size_t i = editor.node_count(); i-- > 0;) {
    if (done.contains(i)) continue;
    std::set<size_t> nodes;
    if (auto move = find_move(editor, i, nodes)) moves.emplace(i, std::move(*move));
    done.merge(nodes);
  }
  return moves;
}

void write_move(Graph& graph, NodeWriter& writer, Node node, Move move) {
  const TensorType source = graph.values[move.source].type;
  const int64_t length = source.shape.back(), count = move.rows.elements();
  const Shape matrix{element_count(source.shape) / length, length};
  const ValueId rows =
      writer.add(node.name + "/matrix", reshape_to(matrix), {move.source}, {source.dtype, matrix});
  const ValueId table = writer.add_constant(node.name + "/rows", std::move(move.rows));
  const ValueId gathered = writer.add(node.name + "/gathered", std::make_shared<Gather>(), {rows, table},
                                      {source.dtype, {count, length}});
  const Shape& shape = graph.values[node.outputs[0]].type.shape;
  graph.nodes.push_back({std::move(node.name), reshape_to(shape), {gathered}, std::move(node.outputs)});
}

}  // namespace

void gather_rows(Graph& graph) {
  Moves moves = find_moves(graph);
  if (moves.empty()) return;
  NodeWriter writer(graph);
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const auto found = moves.find(i); found != moves.end())
      write_move(graph, writer, std::move(nodes[i]), std::move(found->second));
    else
      graph.nodes.push_back(std::move(nodes[i]));
  }
  remove_dead_code(graph);
}

}  // namespace vellum
