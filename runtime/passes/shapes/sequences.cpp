#include "passes/shapes/sequences.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "graph/operators/control/sequence.hpp"
#include "graph/operators/generators/shape.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/match.hpp"
#include "passes/rewrite/stack_values.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse_sequence(const Node& node, const std::string& why,
                                  ErrorCode code = ErrorCode::unsupported) {
  throw Error(code, describe(node) + ": " + why);
}

// An index into `count` tensors, counted from 0. Insertion allows one more.
size_t position(const GraphEditor& editor, size_t index, size_t slot, size_t count, bool inserts) {
  const Node& node = editor.node(index);
  if (inserts && (slot >= node.inputs.size() || node.inputs[slot] == kNoValue)) return count;
  const HostTensor* tensor = editor.constant_input(index, slot);
  if (!tensor) refuse_sequence(node, "the position in the sequence is known only at run time");
  if (tensor->elements() != 1 || (tensor->dtype() != DType::i64 && tensor->dtype() != DType::i32))
    refuse_sequence(node, "the position is " + to_string(tensor->type()) + ", expected one integer",
                    ErrorCode::corrupt_model);
  const auto size = static_cast<int64_t>(count);
  const int64_t given = tensor->dtype() == DType::i64 ? tensor->as<int64_t>()[0] : tensor->as<int32_t>()[0];
  const int64_t place = given < 0 ? given + size : given;
  if (place < 0 || place >= size + (inserts ? 1 : 0))
    refuse_sequence(node, "position " + std::to_string(given) + " in a sequence of " + std::to_string(size),
                    ErrorCode::corrupt_model);
  return static_cast<size_t>(place);
}

// The tensors joined: a Concat, of tensors with one more axis if `new_axis`.
void join(GraphEditor& editor, size_t index, const SequenceOperator& op, std::vector<ValueId> tensors) {
  if (op.new_axis) {
    const Node node = editor.node(index);
    stack_values(editor, index, node.name, std::move(tensors), op.axis, node.outputs[0]);
    editor.remove(index);
    return;
  }
  auto concat = std::make_shared<Concat>();
  concat->axis = op.axis;
  editor.replace(index, std::move(concat), std::move(tensors));
}

}  // namespace

const SequenceTracker::Sequence& SequenceTracker::read(const GraphEditor& editor, size_t index) const {
  const Node& node = editor.node(index);
  const auto found = node.inputs.empty() ? sequences_.end() : sequences_.find(node.inputs[0]);
  if (found == sequences_.end())
    refuse_sequence(node, "which tensors the sequence holds is known only at run time");
  return found->second;
}

SequenceTracker::Found SequenceTracker::keep(const GraphEditor& editor, size_t index, Sequence sequence) {
  constexpr uint64_t kMostTensors = 1 << 24;  // of all sequences: each insertion makes another one
  tensors_ += sequence.size();
  if (tensors_ > kMostTensors)
    refuse_sequence(editor.node(index),
                    "the sequences have more than " + std::to_string(kMostTensors) + " tensors together");
  sequences_[editor.node(index).outputs[0]] = std::move(sequence);
  nodes_.push_back(index);
  return Found::sequence;
}

// The parts of a tensor, which a Split after the node computes.
SequenceTracker::Sequence SequenceTracker::split(GraphEditor& editor, size_t index) const {
  const Node node = editor.node(index);
  const auto& op = dynamic_cast<const SequenceOperator&>(*node.op);
  const Value& input = editor.graph().values[node.inputs.at(0)];
  if (!input.type_known || !is_known(input.type.shape))
    refuse_sequence(node, "the length of the input is known only at run time");
  const size_t axis = normalize_axis(op.axis, input.type.shape.size());
  const int64_t length = input.type.shape[axis];
  auto parts = std::make_shared<Split>();
  parts->axis = static_cast<int64_t>(axis);
  int64_t chunk = 1;
  if (node.inputs.size() > 1) {
    const OperatorInput sizes = operator_inputs(editor.graph(), node)[1];
    const Ints given = constant_ints(std::array{sizes}, 0, "split");
    if (!sizes.type.shape.empty())
      parts->split = given;
    else if (given.at(0) > 0)
      chunk = given.at(0);
    else
      refuse_sequence(node, "parts of " + std::to_string(given.at(0)), ErrorCode::corrupt_model);
  }
  const auto count = parts->split ? parts->split->size()
                                  : static_cast<uint64_t>(length / chunk + (length % chunk != 0 ? 1 : 0));
  if (count == 0 || count > editor.graph().limits.nodes)
    refuse_sequence(node, "a sequence of " + std::to_string(count) + " tensors");
  if (!parts->split) {
    parts->split.emplace(count, chunk);
    if (length % chunk != 0) parts->split->back() = length % chunk;
  }
  Sequence tensors(parts->split->size());
  parts->output_count = tensors.size();
  for (ValueId& tensor : tensors) tensor = editor.add_value(node.name + "/part");
  size_t last = editor.insert_after(index, {node.name, std::move(parts), {node.inputs[0]}, tensors});
  if (op.keep_axis) return tensors;
  for (ValueId& tensor : tensors) {
    auto squeeze = std::make_shared<Squeeze>();
    squeeze->axes = Ints{static_cast<int64_t>(axis)};
    const ValueId part = editor.add_value(node.name + "/squeezed");
    last = editor.insert_after(last, {node.name, std::move(squeeze), {tensor}, {part}});
    tensor = part;
  }
  return tensors;
}

SequenceTracker::Found SequenceTracker::visit(GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const auto op = std::dynamic_pointer_cast<const SequenceOperator>(node.op);
  if (!op) {
    if (!match_node<Identity>(editor, index) || node.inputs.empty() || !sequences_.contains(node.inputs[0]))
      return Found::tensor;
    return keep(editor, index, read(editor, index));
  }
  const std::string_view type = op->type();
  if (type == "SequenceEmpty") return keep(editor, index, {});
  if (type == "SequenceConstruct") return keep(editor, index, node.inputs);
  if (type == "SplitToSequence") return keep(editor, index, split(editor, index));
  Sequence sequence = read(editor, index);
  if (type == "SequenceInsert") {
    if (node.inputs.size() < 2) refuse_sequence(node, "the tensor is missing", ErrorCode::corrupt_model);
    const size_t place = position(editor, index, 2, sequence.size(), true);
    sequence.insert(sequence.begin() + static_cast<ptrdiff_t>(place), node.inputs[1]);
    return keep(editor, index, std::move(sequence));
  }
  if (type == "SequenceErase") {
    const bool last = node.inputs.size() < 2;
    const size_t place =
        last && !sequence.empty() ? sequence.size() - 1 : position(editor, index, 1, sequence.size(), false);
    sequence.erase(sequence.begin() + static_cast<ptrdiff_t>(place));
    return keep(editor, index, std::move(sequence));
  }
  if (type == "SequenceLength") {
    auto constant = std::make_shared<Constant>();
    constant->value = HostTensor::i64({}, std::vector<int64_t>{static_cast<int64_t>(sequence.size())});
    editor.replace(index, std::move(constant), {});
  } else if (type == "SequenceAt") {
    const ValueId tensor = sequence.at(position(editor, index, 1, sequence.size(), false));
    editor.replace(index, std::make_shared<Identity>(), {tensor});
  } else if (sequence.empty()) {
    refuse_sequence(node, "the sequence is empty", ErrorCode::corrupt_model);
  } else {
    join(editor, index, *op, std::move(sequence));
  }
  return Found::tensor;
}

void SequenceTracker::remove_nodes(GraphEditor& editor) const {
  for (const size_t index : nodes_) {
    const Node& node = editor.node(index);
    if (editor.is_graph_output(node.outputs[0]))
      refuse_sequence(node, "an output of the model is a sequence; only tensors are supported");
    editor.remove(index);
  }
}

}  // namespace vellum
