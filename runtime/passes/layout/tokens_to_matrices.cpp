#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/attention_scores.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The shape of a matrix whose rows are the last dimension of `shape`.
Shape matrix_shape(const Shape& shape) { return {element_count(shape) / shape.back(), shape.back()}; }

// Nodes that compute each row from one row of a matrix compute a matrix, in the order of the nodes; it is
// reshaped for readers that need the former shape.
class RowsAsMatrices {
 public:
  explicit RowsAsMatrices(Graph& graph) : editor_(graph) {}

  void run() {
    for (const size_t index : editor_.nodes()) {
      if (match_node<ReshapeFamily>(editor_, index))
        note_reshape(index);
      else if (match_node<Attention>(editor_, index) || match_node<RotateChannels>(editor_, index))
        read_matrices(index);
      else if (is_row_operator(index))
        compute_as_matrix(index);
    }
    editor_.commit();
  }

 private:
  struct Rewritten {
    std::shared_ptr<const Operator> op;
    std::vector<ValueId> inputs;
  };

  const TensorType& type(ValueId value) const { return editor_.type(value); }

  std::optional<ValueId> matrix_of(ValueId value) const {
    const auto found = matrices_.find(value);
    return found == matrices_.end() ? std::nullopt : std::optional(found->second);
  }

  // A Reshape of a value that became a matrix reads the matrix: one between two matrices goes away later.
  void note_reshape(size_t index) {
    const ValueId input = editor_.node(index).inputs[0], output = editor_.node(index).outputs[0];
    const ValueId source = matrix_of(input).value_or(input);
    const Shape &from = type(source).shape, &to = type(output).shape;
    if (source != input) editor_.replace(index, reshape_to(to), {source});
    if (from.size() == 2 && to.size() > 2 && element_count(to) > 0 && from == matrix_shape(to) &&
        is_float(type(source).dtype))
      matrices_[output] = source;
    if (to.size() == 2 && from.size() > 2 && element_count(to) > 0 && to == matrix_shape(from))
      rows_.emplace(source, output);
  }

  // Views count elements in their order, whatever the shape.
  void read_matrices(size_t index) {
    const auto attention = match_node<Attention>(editor_, index);
    if (attention && !attention->views) return;
    std::vector<ValueId> inputs = editor_.node(index).inputs;
    for (size_t i = 0; i < (attention ? 3 : 1); ++i) inputs[i] = matrix_of(inputs[i]).value_or(inputs[i]);
    editor_.set_inputs(index, std::move(inputs));
  }

  // Whether the node may compute each row of its output from rows of its inputs, or move rows.
  bool is_row_operator(size_t index) const {
    const Node& node = editor_.node(index);
    if (node.outputs.size() != 1 || node.inputs.empty()) return false;
    const TensorType& y = type(node.outputs[0]);
    if (y.shape.size() <= 2 || element_count(y.shape) == 0 || !is_float(y.dtype)) return false;
    return match_node<LayerNormalization>(editor_, index) || is_function(index) ||
           match_node<Binary>(editor_, index) || match_node<Slice>(editor_, index) ||
           match_node<Concat>(editor_, index);
  }

  // Whether the node computes each element of its result from one element of input 0.
  bool is_function(size_t index) const {
    return match_node<Unary>(editor_, index) || match_node<ByteTable>(editor_, index);
  }

  void compute_as_matrix(size_t index) {
    const Node node = editor_.node(index);
    const TensorType y = type(node.outputs[0]);
    std::optional<Rewritten> rewritten;
    if (const auto norm = match_node<LayerNormalization>(editor_, index))
      rewritten = normalize_rows(*norm.op, node);
    else if (is_function(index))
      rewritten = function_of_rows(node);
    else if (const auto slice = match_node<Slice>(editor_, index))
      rewritten = slice_of_rows(*slice.op, node);
    else if (const auto concat = match_node<Concat>(editor_, index))
      rewritten = concat_of_rows(index, *concat.op, node);
    else
      rewritten = binary_of_rows(index, node);
    if (!rewritten) return;
    const ValueId matrix =
        editor_.compute_before(index, node.name, std::move(rewritten->op), std::move(rewritten->inputs),
                               {y.dtype, matrix_shape(y.shape)});
    matrices_[node.outputs[0]] = matrix;
    editor_.replace(index, {node.name + "/shape", reshape_to(y.shape), {matrix}, node.outputs});
  }

  std::optional<Rewritten> normalize_rows(const LayerNormalization& norm, const Node& node) const {
    const Shape& shape = type(node.outputs[0]).shape;
    const auto matrix = matrix_of(node.inputs[0]);
    if (!matrix || normalize_axis(norm.axis, shape.size()) + 1 != shape.size()) return std::nullopt;
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = *matrix;
    for (size_t i = 1; i < inputs.size(); ++i)
      if (inputs[i] != kNoValue && type(inputs[i]).shape != Shape{shape.back()}) return std::nullopt;
    auto op = std::make_shared<LayerNormalization>(norm);
    op->axis = 1;
    return Rewritten{std::move(op), std::move(inputs)};
  }

  std::optional<Rewritten> function_of_rows(const Node& node) const {
    const auto matrix = matrix_of(node.inputs[0]);
    const bool has_table = dynamic_cast<const ByteTable*>(node.op.get()) != nullptr;
    if (!matrix || (node.inputs.size() != 1 && !has_table)) return std::nullopt;
    Rewritten rewritten{node.op, node.inputs};
    rewritten.inputs[0] = *matrix;
    return rewritten;
  }

  // Returns whether the outermost dimension of `shape` that is not 1 is `axis`, and no row.
  static bool is_outermost(size_t axis, const Shape& shape) {
    const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    return axis + 1 < shape.size() &&
           std::all_of(shape.begin(), first, [](int64_t size) { return size == 1; });
  }

  // Returns whether a node that may compute rows reads the value.
  bool is_for_rows(ValueId value) const {
    return std::ranges::any_of(editor_.readers(value), [&](size_t reader) {
      if (match_node<ReshapeFamily>(editor_, reader))
        return type(editor_.node(reader).outputs[0]).shape == matrix_shape(type(value).shape);
      return is_row_operator(reader) && !match_node<Slice>(editor_, reader);
    });
  }

  // A range of rows, such as a class token or all others.
  std::optional<Rewritten> slice_of_rows(const Slice& slice, const Node& node) const {
    const auto matrix = matrix_of(node.inputs[0]);
    if (!matrix || !is_for_rows(node.outputs[0])) return std::nullopt;
    for (size_t slot = 1; slot < node.inputs.size(); ++slot)
      if (!is_constant_or_absent(editor_, node, slot)) return std::nullopt;
    const SliceRange range = slice.range(operator_inputs(editor_.graph(), node));
    const Shape& shape = type(node.inputs[0]).shape;
    size_t axis = shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      if (range.steps[i] != 1) return std::nullopt;
      if (range.output[i] == shape[i]) continue;
      if (axis != shape.size()) return std::nullopt;
      axis = i;
    }
    if (!is_outermost(axis, shape)) return std::nullopt;
    const int64_t rows = product(shape, axis + 1, shape.size() - 1);
    auto op = std::make_shared<Slice>();
    op->axes = Ints{0};
    op->starts = Ints{range.starts[axis] * rows};
    op->ends = Ints{(range.starts[axis] + range.output[axis]) * rows};
    return Rewritten{std::move(op), {*matrix}};
  }

  // At least one operand is a matrix already; the others become matrices.
  std::optional<Rewritten> concat_of_rows(size_t index, const Concat& concat, const Node& node) {
    const TensorType y = type(node.outputs[0]);
    const auto is_matrix = [&](ValueId input) { return matrix_of(input).has_value(); };
    if (std::ranges::none_of(node.inputs, is_matrix) ||
        !is_outermost(normalize_axis(concat.axis, y.shape.size()), y.shape))
      return std::nullopt;
    auto op = std::make_shared<Concat>();
    op->axis = 0;
    Rewritten rewritten{std::move(op), {}};
    for (const ValueId input : node.inputs)
      rewritten.inputs.push_back(operand_as_rows(index, input, {y.dtype, type(input).shape}));
    return rewritten;
  }

  // At least one operand is a matrix already; another one of the same shape becomes one.
  std::optional<Rewritten> binary_of_rows(size_t index, const Node& node) {
    if (!matrix_of(node.inputs[0]) && !matrix_of(node.inputs[1])) return std::nullopt;
    const TensorType y = type(node.outputs[0]);
    for (const ValueId input : node.inputs)
      if (type(input).dtype != y.dtype || (type(input).shape != y.shape && !row_of(input, y.shape)))
        return std::nullopt;
    Rewritten rewritten{node.op, {}};
    for (const ValueId input : node.inputs) rewritten.inputs.push_back(operand_as_rows(index, input, y));
    return rewritten;
  }

  ValueId operand_as_rows(size_t index, ValueId input, const TensorType& y) {
    if (const auto matrix = matrix_of(input)) return *matrix;
    const Shape matrix = matrix_shape(y.shape);
    const std::string& name = editor_.graph().values[input].name;
    if (const HostTensor* constant = editor_.constant(input); constant || type(input).shape != y.shape) {
      HostTensor row = type(input).shape == y.shape
                           ? gather_strided(*constant, matrix, row_major_strides(matrix), 0)
                           : *row_of(input, y.shape);
      return editor_.add_constant(name + "/row", std::move(row));
    }
    if (const auto found = rows_.find(input); found != rows_.end()) return found->second;
    const ValueId rows =
        editor_.compute_before(index, name + "/rows", reshape_to(matrix), {input}, {y.dtype, matrix});
    rows_.emplace(input, rows);
    return rows;
  }

  // A constant that is the same in every row of a tensor of that shape.
  std::optional<HostTensor> row_of(ValueId value, const Shape& shape) const {
    const HostTensor* constant = editor_.constant(value);
    return constant ? expand_to_last_dimensions(*constant, {shape.back()}) : std::nullopt;
  }

  GraphEditor editor_;
  std::unordered_map<ValueId, ValueId> rows_;      // values -> the matrix of their rows that a Reshape gives
  std::unordered_map<ValueId, ValueId> matrices_;  // values -> the matrix whose elements they have
};

// Heads that are merged into the rows of a matrix, for a Gemm: Attention computes that matrix, also where it
// is rounded before.
void fuse_reshape_into_attention(GraphEditor& editor, size_t index) {
  const auto attention = match_node<Attention>(editor, index);
  if (!attention || !attention->views) return;
  auto reader = editor.only_reader(attention.node->outputs[0]);
  const auto rounding =
      reader ? match_rounding(editor, editor.node(*reader).outputs[0]) : std::optional<Match<Unary>>();
  if (rounding) reader = editor.only_reader(rounding->node->outputs[0]);
  const auto reshape = reader ? match_node<ReshapeFamily>(editor, *reader) : Match<ReshapeFamily>{};
  if (!reshape) return;
  const ValueId reshaped = reshape.node->outputs[0];
  const TensorType type = editor.type(reshaped);
  if (type.shape.size() != 2) return;
  auto op = std::make_shared<Attention>(*attention.op);
  op->output = type.shape;
  if (rounding) {
    const Node node = *attention.node;
    const std::shared_ptr<const Operator> round = rounding->node->op;
    const ValueId matrix = editor.compute_before(index, node.name, std::move(op), node.inputs, type);
    editor.replace(*reader, round, {matrix});
    editor.remove(rounding->index);
    editor.remove(index);
    return;
  }
  editor.remove(*reader);
  editor.set_operator(index, std::move(op));
  editor.set_outputs(index, {reshaped});
}

}  // namespace

void tokens_to_matrices(Graph& graph) {
  RowsAsMatrices(graph).run();
  remove_dead_code(graph);
  merge_reshapes(graph);
  remove_identities(graph);
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_reshape_into_attention(editor, index);
  editor.commit();
}

}  // namespace vellum
