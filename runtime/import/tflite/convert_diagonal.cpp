// Converters of operators that write the diagonals of matrices. Both choose between two tensors by a constant
// mask.
#include <algorithm>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// Returns a constant that is true on the diagonal of each matrix of rows x columns.
ValueId diagonal_mask(const Call& call, int64_t rows, int64_t columns) {
  call.writer.file().count(static_cast<uint64_t>(checked_multiply(rows, columns)), sizeof(bool));
  HostTensor mask(DType::boolean, {rows, columns});
  const auto is_diagonal = mask.mutable_as<bool>();
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    is_diagonal[static_cast<size_t>(i * columns + i)] = true;
  return call.writer.add_constant(call.writer.name_of(call.output()) + "_mask", std::move(mask));
}

ValueId unsqueezed(const Call& call, size_t index, int64_t axis) {
  auto op = std::make_shared<Unsqueeze>();
  op->axes = Ints{axis};
  return call.emit_inner(std::move(op), {call.writer.in_file_order(call.input(index))});
}

// LiteRT copies stored integers, and writes an integer 0, whatever the scales and zero points are.
void refuse_quantised(const Call& call) {
  if (call.writer.quantised(call.input(0)) || call.writer.quantised(call.output()))
    refuse_unsupported("quantised matrices");
}

}  // namespace

// Input (..., n); output (..., n, n), which is 0 beside the diagonals.
void convert_matrix_diag(const Call& call) {
  refuse_quantised(call);
  const Shape& shape = call.writer.type(call.input(0)).shape;
  if (shape.empty()) refuse_model("the diagonal of a scalar");
  const int64_t size = shape.back();
  if (size < 0) refuse_unsupported("a diagonal of open length");
  const ValueId zero = call.writer.add_constant(call.writer.name_of(call.output()) + "_zero",
                                                HostTensor(call.writer.type(call.input(0)).dtype, {}));
  const ValueId column = unsqueezed(call, 0, -1);
  call.emit(std::make_shared<Where>(), {diagonal_mask(call, size, size), column, zero}, false);
}

// Inputs (..., rows, columns) and the new diagonals (..., min(rows, columns)).
void convert_matrix_set_diag(const Call& call) {
  refuse_quantised(call);
  const Shape& shape = call.writer.type(call.input(0)).shape;
  const Shape& diagonal = call.writer.type(call.input(1)).shape;
  if (shape.size() < 2 || diagonal.size() + 1 != shape.size())
    refuse_model("diagonals of " + to_string(diagonal) + " in " + to_string(shape));
  const int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  if (rows < 0 || columns < 0) refuse_unsupported("matrices of an open size");
  if (diagonal.back() != std::min(rows, columns))
    refuse_model("diagonals of " + to_string(diagonal) + " in " + to_string(shape));
  // A row of diagonal elements broadcasts to more rows, a column of them to more columns.
  const ValueId elements = unsqueezed(call, 1, rows > columns ? -2 : -1);
  call.emit(std::make_shared<Where>(),
            {diagonal_mask(call, rows, columns), elements, call.writer.in_file_order(call.input(0))}, false);
}

}  // namespace vellum::tflite
