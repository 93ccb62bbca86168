// A product with a constant matrix whose columns are split (gated MLPs): a product for each part. Columns lie
// apart in memory, so that the Split copies them, and an activation of one part would be a dispatch of its
// own. An activation before the Split becomes one of each part.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

constexpr int64_t kLeastColumns = 16;  // of a part that is worth a product

struct Columns {
  size_t node = 0;  // that picks them
  ValueId value = kNoValue;
  int64_t begin = 0, count = 0;
};

struct SplitProduct {
  ValueId rows = kNoValue;
  HostTensor matrix;
  std::optional<HostTensor> bias;  // one element per column
  std::optional<Node> activation;
  size_t first = 0;  // the node of the product
  std::vector<Columns> parts;
};

bool is_last_axis(const GraphEditor& editor, ValueId value, int64_t axis) {
  const size_t rank = editor.type(value).shape.size();
  return normalize_axis(axis, rank) + 1 == rank;
}

// The parts into which one Split divides the columns.
std::vector<Columns> parts_of_split(const GraphEditor& editor, const Match<Split>& split) {
  if (!is_last_axis(editor, split.input(), split->axis) || !is_constant_or_absent(editor, *split.node, 1))
    return {};
  std::vector<Columns> parts;
  int64_t begin = 0;
  const Ints sizes = split->sizes(operator_inputs(editor.graph(), *split.node));
  for (size_t i = 0; i < split.node->outputs.size(); ++i) {
    const ValueId output = split.node->outputs[i];
    if (output != kNoValue && editor.is_read(output)) parts.push_back({split.index, output, begin, sizes[i]});
    begin += sizes[i];
  }
  return parts;
}

// The columns that a Slice picks, where it picks neighbours along the last axis alone.
std::optional<Columns> part_of_slice(const GraphEditor& editor, const Match<Slice>& slice) {
  for (size_t slot = 1; slot < slice.node->inputs.size(); ++slot)
    if (!is_constant_or_absent(editor, *slice.node, slot)) return std::nullopt;
  const SliceRange range = slice->range(operator_inputs(editor.graph(), *slice.node));
  const Shape& shape = editor.type(slice.input()).shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool last = axis + 1 == shape.size();
    if (range.steps[axis] != 1 || (!last && range.output[axis] != shape[axis])) return std::nullopt;
  }
  return Columns{slice.index, slice.node->outputs[0], range.starts.back(), range.output.back()};
}

// Where all that reads the value picks columns of it, each column once.
std::vector<Columns> match_parts(const GraphEditor& editor, ValueId value) {
  std::vector<Columns> parts;
  for (const size_t reader : editor.readers(value)) {
    if (const auto split = match_node<Split>(editor, reader)) {
      const auto found = parts_of_split(editor, split);
      if (found.empty()) return {};
      parts.insert(parts.end(), found.begin(), found.end());
    } else if (const auto slice = match_node<Slice>(editor, reader)) {
      const auto found = part_of_slice(editor, slice);
      if (!found) return {};
      parts.push_back(*found);
    } else {
      return {};
    }
  }
  std::ranges::sort(parts, {}, &Columns::begin);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool overlaps = i > 0 && parts[i].begin < parts[i - 1].begin + parts[i - 1].count;
    if (overlaps || parts[i].count < kLeastColumns) return {};
  }
  return parts.size() > 1 ? parts : std::vector<Columns>{};
}

// The activation that alone reads `value`, with no more than scalars beside it.
std::optional<Node> activation_after(const GraphEditor& editor, ValueId value) {
  const auto reader = editor.only_reader(value);
  if (!reader) return std::nullopt;
  const Node& node = editor.node(*reader);
  const auto applied = match_activation(editor, node.outputs[0]);
  if (!applied || applied->input != value || editor.type(node.outputs[0]) != editor.type(value))
    return std::nullopt;
  for (size_t slot = 1; slot < node.inputs.size(); ++slot)
    if (node.inputs[slot] != kNoValue && element_count(editor.type(node.inputs[slot]).shape) != 1)
      return std::nullopt;
  return node;
}

std::optional<SplitProduct> match_split_product(const GraphEditor& editor, size_t index) {
  const auto product = match_node<MatMul>(editor, index);
  if (!product || product->transpose_a || product->transpose_b) return std::nullopt;
  const HostTensor* matrix = editor.constant_input(index, 1);
  ValueId result = product.node->outputs[0];
  if (matrix == nullptr || matrix->shape().size() != 2 || !is_float_value(editor, result) ||
      element_count(editor.type(result).shape) == 0 || editor.is_graph_output(result))
    return std::nullopt;
  SplitProduct found{product.input(), *matrix, std::nullopt, std::nullopt, index, {}};
  if (const auto sum = match_constant_reader(editor, result, BinaryKind::add)) {
    found.bias = expand_to_last_dimensions(*sum->constant, {matrix->shape()[1]});
    if (!found.bias || editor.is_graph_output(sum->output)) return std::nullopt;
    result = sum->output;
  }
  found.activation = activation_after(editor, result);
  if (found.activation) result = found.activation->outputs[0];
  if (editor.is_graph_output(result)) return std::nullopt;
  found.parts = match_parts(editor, result);
  return found.parts.empty() ? std::nullopt : std::optional(std::move(found));
}

// Each part is computed where the first product was: before all that reads it.
void replace_by_products(GraphEditor& editor, const SplitProduct& product) {
  const std::string name = editor.node(product.first).name;
  const int64_t rows = product.matrix.shape()[0], columns = product.matrix.shape()[1];
  for (const Columns& part : product.parts) {
    const TensorType type = editor.type(part.value);
    const ValueId matrix = editor.add_constant(
        name + "/columns", gather_strided(product.matrix, {rows, part.count}, {columns, 1}, part.begin));
    ValueId value =
        editor.compute_before(product.first, name, std::make_shared<MatMul>(), {product.rows, matrix}, type);
    if (product.bias) {
      const ValueId bias =
          editor.add_constant(name + "/bias", gather_strided(*product.bias, {part.count}, {1}, part.begin));
      value = editor.compute_before(product.first, name + "/sum", std::make_shared<Binary>(), {value, bias},
                                    type);
    }
    if (product.activation) {
      std::vector<ValueId> inputs = product.activation->inputs;
      inputs[0] = value;
      value = editor.compute_before(product.first, product.activation->name, product.activation->op,
                                    std::move(inputs), type);
    }
    if (editor.is_graph_output(part.value))
      editor.insert_before(product.first, {name, std::make_shared<Identity>(), {value}, {part.value}});
    else
      editor.replace_reads(part.value, value);
  }
  for (const Columns& part : product.parts)
    if (!editor.removed(part.node)) editor.remove(part.node);
}

}  // namespace

void split_products(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (const auto product = match_split_product(editor, index)) replace_by_products(editor, *product);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
