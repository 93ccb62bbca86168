#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/attention.hpp"
#include "graph/operators/binary.hpp"
#include "graph/operators/normalization.hpp"
#include "graph/operators/reshape.hpp"
#include "graph/operators/unary.hpp"
#include "passes/rewrite/node_writer.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

HostTensor rearranged(const HostTensor& constant, const Shape& shape) {
  return gather_strided(constant, shape, row_major_strides(shape), 0);
}

// Writes the nodes anew, in their order: what is computed row by row from the rows of a matrix is computed as
// a matrix, and reshaped for those who want it as it was.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph), writer_(graph) {}

  void run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& node : nodes) {
      if (dynamic_cast<const ReshapeFamily*>(node.op.get()) != nullptr)
        note_reshape(node);
      else if (const auto* attention = dynamic_cast<const Attention*>(node.op.get()))
        read_matrices(*attention, node);
      else if (write_as_matrix(node))
        continue;
      graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  const TensorType& type(ValueId value) const { return graph_.values[value].type; }

  std::optional<ValueId> matrix_of(ValueId value) const {
    const auto found = matrices_.find(value);
    return found == matrices_.end() ? std::nullopt : std::optional(found->second);
  }

  // Rows of as many elements as `shape` ends in.
  static Shape matrix_shape(const Shape& shape) {
    return {element_count(shape) / shape.back(), shape.back()};
  }

  void note_reshape(Node& node) {
    const ValueId input = node.inputs[0], output = node.outputs[0];
    // Reshapes of what became a matrix read that: one between two matrices goes away.
    const ValueId source = matrix_of(input).value_or(input);
    const Shape &from = type(source).shape, &to = type(output).shape;
    if (source != input) {
      node.op = reshape_to(to);
      node.inputs = {source};
    }
    if (from.size() == 2 && to.size() > 2 && element_count(to) > 0 && from == matrix_shape(to) &&
        is_float(type(source).dtype))
      matrices_[output] = source;
    if (to.size() == 2 && from.size() > 2 && element_count(to) > 0 && to == matrix_shape(from))
      rows_.emplace(source, output);
  }

  // Views count elements in their order, whatever the shape.
  void read_matrices(const Attention& attention, Node& node) {
    if (!attention.views) return;
    for (size_t i = 0; i < 3; ++i) node.inputs[i] = matrix_of(node.inputs[i]).value_or(node.inputs[i]);
  }

  bool write_as_matrix(const Node& node) {
    if (node.outputs.size() != 1 || node.inputs.empty()) return false;
    const TensorType& y = type(node.outputs[0]);
    if (y.shape.size() <= 2 || element_count(y.shape) == 0 || !is_float(y.dtype)) return false;
    std::shared_ptr<const Operator> op;
    std::vector<ValueId> inputs;
    if (const auto* norm = dynamic_cast<const LayerNormalization*>(node.op.get()))
      op = over_rows(*norm, node, inputs);
    else if (dynamic_cast<const Unary*>(node.op.get()) != nullptr)
      op = of_one(node, inputs);
    else if (dynamic_cast<const Binary*>(node.op.get()) != nullptr)
      op = of_two(node, inputs);
    if (!op) return false;
    const Shape shape = matrix_shape(y.shape);
    const ValueId matrix = writer_.add(node.name, std::move(op), std::move(inputs), {y.dtype, shape});
    matrices_[node.outputs[0]] = matrix;
    graph_.nodes.push_back({node.name + "/shape", reshape_to(y.shape), {matrix}, node.outputs});
    return true;
  }

  std::shared_ptr<const Operator> over_rows(const LayerNormalization& norm, const Node& node,
                                            std::vector<ValueId>& inputs) {
    const Shape& shape = type(node.outputs[0]).shape;
    const auto matrix = matrix_of(node.inputs[0]);
    if (!matrix || normalize_axis(norm.axis, shape.size()) + 1 != shape.size()) return nullptr;
    inputs = node.inputs;
    inputs[0] = *matrix;
    for (size_t i = 1; i < inputs.size(); ++i)
      if (inputs[i] != kNoValue && type(inputs[i]).shape != Shape{shape.back()}) return nullptr;
    auto op = std::make_shared<LayerNormalization>(norm);
    op->axis = 1;
    return op;
  }

  std::shared_ptr<const Operator> of_one(const Node& node, std::vector<ValueId>& inputs) {
    const auto matrix = matrix_of(node.inputs[0]);
    if (!matrix || node.inputs.size() != 1) return nullptr;
    inputs = {*matrix};
    return node.op;
  }

  // At least one operand is a matrix already; another of the same shape becomes one.
  std::shared_ptr<const Operator> of_two(const Node& node, std::vector<ValueId>& inputs) {
    if (!matrix_of(node.inputs[0]) && !matrix_of(node.inputs[1])) return nullptr;
    const TensorType& y = type(node.outputs[0]);
    for (const ValueId input : node.inputs)
      if (type(input).dtype != y.dtype || (type(input).shape != y.shape && !row_of(input, y.shape)))
        return nullptr;
    for (const ValueId input : node.inputs) {
      if (const auto matrix = matrix_of(input)) {
        inputs.push_back(*matrix);
      } else if (type(input).shape == y.shape && graph_.constant(input) == nullptr) {
        if (const auto found = rows_.find(input); found != rows_.end()) {
          inputs.push_back(found->second);
          continue;
        }
        const ValueId made =
            writer_.add(graph_.values[input].name + "/rows", reshape_to(matrix_shape(y.shape)), {input},
                        {y.dtype, matrix_shape(y.shape)});
        rows_.emplace(input, made);
        inputs.push_back(made);
      } else {
        const HostTensor& constant = *graph_.constant(input);
        HostTensor row = type(input).shape == y.shape ? rearranged(constant, matrix_shape(y.shape))
                                                      : *row_of(input, y.shape);
        inputs.push_back(writer_.add_constant(graph_.values[input].name + "/row", std::move(row)));
      }
    }
    return node.op;
  }

  // A constant that is the same in every row of a tensor of that shape.
  std::optional<HostTensor> row_of(ValueId value, const Shape& shape) const {
    const HostTensor* constant = graph_.constant(value);
    return constant ? expand_to_last_dimensions(*constant, {shape.back()}) : std::nullopt;
  }

  Graph& graph_;
  NodeWriter writer_;
  std::map<ValueId, ValueId> rows_;      // other values that a Reshape gives as a matrix of their rows
  std::map<ValueId, ValueId> matrices_;  // values whose elements are those of a matrix of equal rows
};

// What parts heads is joined again as the rows of a matrix, for a Gemm: then Attention gives that.
void write_attention_as_matrix(GraphEditor& editor, size_t index) {
  const auto* attention = dynamic_cast<const Attention*>(editor.node(index).op.get());
  if (attention == nullptr || !attention->views) return;
  const ValueId output = editor.node(index).outputs[0];
  const auto reader = editor.only_reader(output);
  if (!reader || dynamic_cast<const ReshapeFamily*>(editor.node(*reader).op.get()) == nullptr) return;
  const ValueId reshaped = editor.node(*reader).outputs[0];
  if (editor.type(reshaped).shape.size() != 2) return;
  auto op = std::make_shared<Attention>(*attention);
  op->output = editor.type(reshaped).shape;
  editor.set_operator(index, std::move(op));
  editor.remove(*reader);
  editor.take_output(index, reshaped);
}

}  // namespace

void tokens_to_matrices(Graph& graph) {
  Rewriter(graph).run();
  remove_dead_code(graph);
  merge_reshapes(graph);
  remove_identities(graph);
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i)
    if (!editor.removed(i)) write_attention_as_matrix(editor, i);
  editor.commit();
}

}  // namespace vellum
