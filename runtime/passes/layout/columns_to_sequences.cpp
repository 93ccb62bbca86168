// Pictures of one column (N, C, H, 1) become sequences (N, C, H), in which elements are neighbours along the
// innermost axis, so that a tile of a convolution has several of them. TensorFlow has no convolution in one
// dimension; exporters write it as a picture of one column between an Unsqueeze and a Squeeze. Activations,
// normalisations, arithmetic and pools between such convolutions follow.
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Returns whether a window does not reach beside the column.
bool is_of_one_column(const WindowPlacement& window) {
  return window.input.size() == 2 && window.input[1] == 1 && window.output[1] == 1 && window.kernel[1] == 1 &&
         window.pads_begin[1] == 0 && window.pads_end[1] == 0;
}

Window window_of_sequence(const WindowPlacement& column, bool ceil_mode) {
  Window window;
  window.kernel = {column.kernel[0]};
  window.strides = {column.strides[0]};
  window.dilations = {column.dilations[0]};
  window.pads = {column.pads_begin[0], column.pads_end[0]};
  window.ceil_mode = ceil_mode;
  return window;
}

Shape without_last(Shape shape) {
  shape.pop_back();
  return shape;
}

class SequenceConversion {
 public:
  explicit SequenceConversion(Graph& graph) : editor_(graph) {}

  void run() {
    for (const size_t index : editor_.nodes())
      if (const auto sequence = convert(index)) put_column(index, *sequence);
    editor_.commit();
  }

 private:
  bool is_column(ValueId value) const {
    const Shape& shape = editor_.type(value).shape;
    return shape.size() == 4 && shape[3] == 1 && element_count(shape) > 0 && is_float_value(editor_, value);
  }

  // Returns the sequence of the node's result; nothing where the node stays one of pictures.
  std::optional<ValueId> convert(size_t index) {
    const Node& node = editor_.node(index);
    if (node.outputs.size() != 1 || node.inputs.empty() || !is_column(node.outputs[0])) return std::nullopt;
    if (const auto conv = match_node<Conv>(editor_, index)) return convolve(index, *conv.op);
    if (match_node<Binary>(editor_, index)) return combine(index);
    if (!sequences_.contains(node.inputs[0])) return std::nullopt;
    if (const auto pool = match_node<Pool>(editor_, index)) return pool_sequence(index, *pool.op);
    const bool is_clip = match_node<Clip>(editor_, index) && is_constant_or_absent(editor_, node, 1) &&
                         is_constant_or_absent(editor_, node, 2);
    if (!is_clip && !match_node<Unary>(editor_, index) && !match_node<BatchNormalization>(editor_, index))
      return std::nullopt;
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = sequence_of(index, inputs[0]);
    return compute(index, editor_.node(index).op, std::move(inputs));
  }

  // A window of one element starts no sequence: its kernels have tiles of any pixels.
  std::optional<ValueId> convolve(size_t index, const Conv& conv) {
    const Node node = editor_.node(index);
    if (node.inputs.size() > 3 || !is_column(node.inputs[0]) || editor_.constant(node.inputs[1]) == nullptr)
      return std::nullopt;
    const WindowPlacement window = conv.place(operator_inputs(editor_.graph(), node));
    if (!is_of_one_column(window)) return std::nullopt;
    const bool is_long = window.kernel[0] > 1 && window.output[0] > 1;
    if (!is_long && !sequences_.contains(node.inputs[0])) return std::nullopt;
    auto op = std::make_shared<Conv>(conv);
    op->window = window_of_sequence(window, false);
    const HostTensor& weights = *editor_.constant(node.inputs[1]);
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = add_constant(index, weights.reshaped(without_last(weights.shape())));
    inputs[0] = sequence_of(index, node.inputs[0]);
    return compute(index, std::move(op), std::move(inputs));
  }

  // Two columns, or one and constants that are the same for all elements of a channel.
  std::optional<ValueId> combine(size_t index) {
    const Node node = editor_.node(index);
    const ValueId y = node.outputs[0];
    if (!sequences_.contains(node.inputs[0]) && !sequences_.contains(node.inputs[1])) return std::nullopt;
    for (const ValueId input : node.inputs)
      if (!is_operand(input, y)) return std::nullopt;
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) {
      const HostTensor* constant = editor_.constant(input);
      if (constant == nullptr)
        inputs.push_back(sequence_of(index, input));
      else if (constant->shape().empty())
        inputs.push_back(input);
      else
        inputs.push_back(add_constant(index, constant->reshaped(without_last(constant->shape()))));
    }
    return compute(index, node.op, std::move(inputs));
  }

  bool is_operand(ValueId input, ValueId y) const {
    const Shape& shape = editor_.type(input).shape;
    if (editor_.constant(input) == nullptr) return shape == editor_.type(y).shape;
    return shape.empty() || shape.back() == 1;
  }

  std::optional<ValueId> pool_sequence(size_t index, const Pool& pool) {
    const Node node = editor_.node(index);
    const WindowPlacement window = pool.place(operator_inputs(editor_.graph(), node));
    if (!is_of_one_column(window) || pool.with_indices || pool.window_indices) return std::nullopt;
    auto op = std::make_shared<Pool>(pool);
    op->window = window_of_sequence(window, pool.window.ceil_mode);
    const std::vector<OperatorInput> known{
        {true,
         {editor_.type(node.inputs[0]).dtype, without_last(editor_.type(node.inputs[0]).shape)},
         nullptr}};
    // With ceil_mode, explicit pads may give another size than auto_pad.
    if (op->infer(known).front().shape != without_last(editor_.type(node.outputs[0]).shape))
      return std::nullopt;
    return compute(index, std::move(op), {sequence_of(index, node.inputs[0])});
  }

  // Returns the sequence of a column, which is inserted before node `index` if it does not exist yet.
  ValueId sequence_of(size_t index, ValueId column) {
    if (const auto found = sequences_.find(column); found != sequences_.end()) return found->second;
    const TensorType type = editor_.type(column);
    const Shape shape = without_last(type.shape);
    return sequences_[column] =
               editor_.compute_before(index, editor_.graph().values[column].name + "/sequence",
                                      reshape_to(shape), {column}, {type.dtype, shape});
  }

  ValueId compute(size_t index, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
    const TensorType type = editor_.type(editor_.node(index).outputs[0]);
    return editor_.compute_before(index, editor_.node(index).name + "/sequence", std::move(op),
                                  std::move(inputs), {type.dtype, without_last(type.shape)});
  }

  ValueId add_constant(size_t index, HostTensor tensor) {
    return editor_.add_constant(editor_.node(index).name + "/sequence", std::move(tensor));
  }

  // The node computes its column from the sequence; nothing reads it where all readers read sequences.
  void put_column(size_t index, ValueId sequence) {
    const ValueId y = editor_.node(index).outputs[0];
    sequences_[y] = sequence;
    editor_.replace(index, reshape_to(editor_.type(y).shape), {sequence});
  }

  GraphEditor editor_;
  std::unordered_map<ValueId, ValueId> sequences_;  // of columns
};

}  // namespace

void columns_to_sequences(Graph& graph) {
  SequenceConversion(graph).run();
  remove_dead_code(graph);
}

}  // namespace vellum
