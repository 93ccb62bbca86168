// The product of one-hot rows and a constant matrix is a row of the matrix: networks of bytes and tokens that
// JAX and TensorFlow export look their tables up so. What follows for each element of the row alone, such as
// a bias and an activation, is computed once, in the table.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Rows of `depth` elements, of which element `indices` - first is 1 and all others are 0. A row whose index
// is no element has no 1.
struct OneHotRows {
  ValueId indices = kNoValue;  // as many elements as there are rows
  int64_t depth = 0;
  int64_t first = 0;
  bool counts_from_end = false;  // indices from -depth on are positions, too
};

int64_t rows_of(const Shape& shape) { return product(shape, 0, shape.size() - 1); }

// The first of the numbers n, n + 1, ... along the last dimension of a constant that varies along no other.
std::optional<int64_t> first_of_count(const HostTensor* constant, int64_t depth) {
  if (constant == nullptr || constant->elements() != depth || constant->shape().empty() ||
      constant->shape().back() != depth)
    return std::nullopt;
  const Ints values = constant->to_ints();
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[0] + static_cast<int64_t>(i)) return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 30;  // no sum of an index and it overflows
  return values[0] > -kMost && values[0] < kMost ? std::optional(values[0]) : std::nullopt;
}

// Returns a value with one element for each row that is repeated along the rows of `value`.
std::optional<ValueId> repeated_along_rows(const GraphEditor& editor, ValueId value, const Shape& rows) {
  if (const auto expand = match_producer<Expand>(editor, value)) value = expand.input();
  const Shape& shape = editor.type(value).shape;
  if (shape.empty() || shape.back() != 1 || element_count(shape) != rows_of(rows)) return std::nullopt;
  // With as many elements, the dimensions are those of the rows, except leading ones.
  return value;
}

// Cast(Equal(indices, (n, n + 1, ...)))
std::optional<OneHotRows> match_comparison(const GraphEditor& editor, ValueId value) {
  const auto cast = match_producer<Cast>(editor, value);
  if (!cast || cast->narrow != nullptr || editor.type(cast.input()).dtype != DType::boolean)
    return std::nullopt;
  const auto operands = match_binary(editor, cast.input(), BinaryKind::equal);
  const Shape& shape = editor.type(value).shape;
  if (!operands || shape.empty()) return std::nullopt;
  for (const size_t slot : {0, 1}) {
    const auto first = first_of_count(editor.constant((*operands)[1 - slot]), shape.back());
    const DType dtype = editor.type((*operands)[slot]).dtype;
    if (!first || (dtype != DType::i32 && dtype != DType::i64)) continue;
    if (const auto indices = repeated_along_rows(editor, (*operands)[slot], shape))
      return OneHotRows{*indices, shape.back(), *first};
  }
  return std::nullopt;
}

std::optional<OneHotRows> match_one_hot(const GraphEditor& editor, ValueId value) {
  const auto one_hot = match_producer<OneHot>(editor, value);
  if (!one_hot) return match_comparison(editor, value);
  const Shape& shape = editor.type(value).shape;
  const HostTensor* values = editor.constant(one_hot.input(2));
  const DType dtype = editor.type(one_hot.input()).dtype;
  if (values == nullptr || values->to_floats() != std::vector<float>{0.0f, 1.0f}) return std::nullopt;
  if (normalize_axis(one_hot->axis, shape.size()) + 1 != shape.size()) return std::nullopt;
  if (dtype != DType::i32 && dtype != DType::i64) return std::nullopt;
  return OneHotRows{one_hot.input(), shape.back(), 0, true};
}

bool are_finite(const HostTensor& table) {
  return std::ranges::all_of(table.to_floats(), [](float value) { return std::isfinite(value); });
}

// Returns the matrix with rows of zeros for indices that are no element: | matrix | 0 |, or with positions
// that count from the end | matrix | 0 | 0 | matrix |. A negative index counts from the end of the table.
HostTensor table_of(const HostTensor& matrix, bool counts_from_end) {
  const Shape& shape = matrix.shape();
  const std::vector<float> values = matrix.to_floats();
  std::vector<float> all = values;
  all.resize(values.size() + static_cast<size_t>(shape[1]) * (counts_from_end ? 2 : 1), 0.0f);
  if (counts_from_end) all.insert(all.end(), values.begin(), values.end());
  return HostTensor::from<float>(matrix.dtype(), {std::ssize(all) / shape[1], shape[1]}, all);
}

class OneHotProducts {
 public:
  explicit OneHotProducts(GraphEditor& editor) : editor_(editor) {}

  void replace(size_t index) {
    const auto product = match_node<MatMul>(editor_, index);
    if (!product || product->transpose_a || product->transpose_b || product->alpha != 1.0f) return;
    const HostTensor* matrix = editor_.constant(product.input(1));
    if (matrix == nullptr || matrix->shape().size() != 2 || element_count(matrix->shape()) == 0) return;
    const auto rows = match_one_hot(editor_, product.input(0));
    // The product of 0 and infinity is no number.
    if (!rows || editor_.type(product.input(0)).shape.size() < 2 || !is_float(matrix->dtype()) ||
        !are_finite(*matrix))
      return;
    HostTensor table = table_of(*matrix, rows->counts_from_end);
    const size_t last = compute_in_table(index, table);
    const std::string name = editor_.node(last).name;
    const ValueId indices = places(last, *rows, editor_.type(product.input(0)).shape);
    editor_.replace(last, std::make_shared<Gather>(),
                    {editor_.add_constant(name + "/table", std::move(table)), indices});
  }

 private:
  // Applies what follows the product at `index` to the table. Returns the last node that is replaced by it.
  size_t compute_in_table(size_t index, HostTensor& table) const {
    for (;;) {
      const ValueId value = editor_.node(index).outputs[0];
      const auto reader = editor_.only_reader(value);
      auto result = reader ? applied(*reader, value, table) : std::nullopt;
      if (!result) return index;
      table = std::move(*result);
      index = *reader;
    }
  }

  // Returns what the node computes of the table in place of `value`; nothing if it depends on more than the
  // element and its column.
  std::optional<HostTensor> applied(size_t index, ValueId value, const HostTensor& table) const {
    const Node& node = editor_.node(index);
    const auto* binary = dynamic_cast<const Binary*>(node.op.get());
    const bool is_elementwise =
        binary != nullptr ? !binary->fixed_point : dynamic_cast<const Unary*>(node.op.get()) != nullptr;
    if (!is_elementwise || editor_.type(node.outputs[0]) != editor_.type(value)) return std::nullopt;
    std::vector<std::optional<HostTensor>> constants;
    for (const ValueId input : node.inputs) {
      const HostTensor* constant = input == value || input == kNoValue ? nullptr : editor_.constant(input);
      if (constant == nullptr && input != value) return std::nullopt;
      constants.push_back(constant == nullptr ? std::optional<HostTensor>() : of_columns(*constant, table));
      if (constant != nullptr && !constants.back()) return std::nullopt;
    }
    std::vector<const HostTensor*> inputs;
    for (const auto& constant : constants) inputs.push_back(constant ? &*constant : &table);
    return node.op->evaluate(inputs)[0];
  }

  // Returns a constant that is the same for all rows in one dimension.
  static std::optional<HostTensor> of_columns(const HostTensor& constant, const HostTensor& table) {
    if (constant.elements() == 1) return constant.reshaped({1});
    return expand_to_last_dimensions(constant, {table.shape()[1]});
  }

  // Returns the row of the table for each row of the product, in the shape of the rows.
  ValueId places(size_t index, const OneHotRows& rows, Shape shape) {
    shape.pop_back();
    const TensorType type{editor_.type(rows.indices).dtype, shape};
    const auto step = [&](const char* what, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
      return editor_.compute_before(index, editor_.node(index).name + what, std::move(op), std::move(inputs),
                                    type);
    };
    const auto combined = [&](const char* what, BinaryKind kind, ValueId value, int64_t number) {
      return step(
          what, binary_of(kind),
          {value, editor_.add_constant(editor_.node(index).name + what,
                                       HostTensor::from<int64_t>(type.dtype, {}, std::array{number}))});
    };
    ValueId value = rows.indices;
    if (editor_.type(value).shape != shape) value = step("/rows", reshape_to(shape), {value});
    const int64_t before = rows.first - (rows.counts_from_end ? rows.depth : 0) - 1;
    value = combined("/least", BinaryKind::max, value, before);
    value = combined("/most", BinaryKind::min, value, rows.first + rows.depth);
    return rows.first == 0 ? value : combined("/first", BinaryKind::sub, value, rows.first);
  }

  GraphEditor& editor_;
};

}  // namespace

void gather_one_hot(Graph& graph) {
  GraphEditor editor(graph);
  OneHotProducts products(editor);
  for (const size_t index : editor.nodes()) products.replace(index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
