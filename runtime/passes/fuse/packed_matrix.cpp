#include "passes/fuse/packed_matrix.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/quantize.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

// Returns element i of a tensor of bytes.
int integer_at(const HostTensor& tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return tensor.dtype() == DType::i8 ? tensor.as<int8_t>()[at] : tensor.as<uint8_t>()[at];
}

bool fits_4_bits(const HostTensor& tensor) {
  if (tensor.dtype() == DType::i8)
    return std::ranges::all_of(tensor.as<int8_t>(), [](int8_t n) { return n >= -8 && n < 8; });
  return std::ranges::all_of(tensor.as<uint8_t>(), [](uint8_t n) { return n < 16; });
}

// Rows of unsigned integers, each of which begins with a byte.
class PackedRows {
 public:
  PackedRows(int64_t rows, int64_t columns, int64_t bits)
      : bits_(bits), row_(divide_up(columns * bits, 8)), tensor_(DType::u8, {rows, row_}) {}

  void set(int64_t row, int64_t column, int integer) {
    const int64_t bit = column * bits_;
    tensor_.mutable_as<uint8_t>()[static_cast<size_t>(row * row_ + bit / 8)] |=
        static_cast<uint8_t>(integer << bit % 8);
  }
  HostTensor take() { return std::move(tensor_); }

 private:
  int64_t bits_, row_;
  HostTensor tensor_;
};

// The indices of elements and scales of a matrix by rows along `dimension`.
class Indices {
 public:
  Indices(const DequantizedMatrix& matrix, size_t dimension)
      : matrix_(matrix),
        dimension_(dimension),
        scale_columns_(matrix.block != 0 && matrix.axis == 1 ? divide_up(matrix.shape()[1], matrix.block)
                                                             : matrix.shape()[1]) {}

  int64_t of_integer(int64_t row, int64_t column) const {
    const auto [i, j] = original(row, column);
    return i * matrix_.shape()[1] + j;
  }
  int64_t of_scale(int64_t row, int64_t column) const {
    if (matrix_.scale.elements() == 1) return 0;
    const auto [i, j] = original(row, column);
    if (matrix_.block == 0) return matrix_.axis == 0 ? i : j;
    return matrix_.axis == 0 ? i / matrix_.block * scale_columns_ + j
                             : i * scale_columns_ + j / matrix_.block;
  }

 private:
  std::pair<int64_t, int64_t> original(int64_t row, int64_t column) const {
    return dimension_ == 0 ? std::pair{row, column} : std::pair{column, row};
  }

  const DequantizedMatrix& matrix_;
  size_t dimension_;
  int64_t scale_columns_;
};

}  // namespace

int64_t DequantizedMatrix::shared_scale(size_t dimension) const {
  if (scale.elements() == 1) return shape()[dimension];
  if (block == 0) return axis == dimension ? 1 : shape()[dimension];
  return axis == dimension ? std::min(block, shape()[dimension]) : 1;
}

bool DequantizedMatrix::has_one_zero_point() const {
  if (!zero) return true;
  for (int64_t i = 1; i < zero->elements(); ++i)
    if (integer_at(*zero, i) != integer_at(*zero, 0)) return false;
  return true;
}

int64_t DequantizedMatrix::bits() const {
  return fits_4_bits(integers) && (!zero || fits_4_bits(*zero)) ? 4 : 8;
}

std::optional<DequantizedMatrix> match_dequantized_matrix(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (editor.removed(index) || node.op->type() != "DequantizeLinear" || node.inputs.size() < 2)
    return std::nullopt;
  const HostTensor *integers = editor.constant_input(index, 0), *scale = editor.constant_input(index, 1);
  const bool has_zero = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  const HostTensor* zero = has_zero ? editor.constant_input(index, 2) : nullptr;
  if (!integers || !scale || (has_zero && !zero) || !is_byte(integers->dtype())) return std::nullopt;
  const Shape& shape = integers->shape();
  if (shape.size() != 2 || integers->elements() == 0 || scale->elements() == 0 ||
      editor.type(node.outputs[0]).dtype != scale->dtype())
    return std::nullopt;
  if (zero && (zero->dtype() != integers->dtype() || zero->elements() != scale->elements()))
    return std::nullopt;
  const Attributes attributes = node.op->attributes();
  DequantizedMatrix matrix{*integers, *scale, {}, 0, attributes.get_int("block_size", 0)};
  if (zero) matrix.zero = *zero;
  if (scale->elements() > 1) matrix.axis = normalize_axis(attributes.get_int("axis", 1), 2);
  return matrix;
}

PackedMatrix pack_matrix(const DequantizedMatrix& matrix, size_t dimension, int64_t bits,
                         const PackedRow& row_form) {
  const int64_t rows = matrix.shape()[dimension], columns = matrix.shape()[1 - dimension],
                block = row_form.block, blocks = divide_up(columns, block);
  const Indices indices(matrix, dimension);
  const int middle = 1 << (bits - 1);
  const int shift = matrix.integers.dtype() == DType::i8 ? middle : 0;  // makes integers unsigned
  PackedRows integers(rows, row_form.integers, bits), zeros(rows, blocks, bits);
  const std::vector<float> given = matrix.scale.to_floats();
  std::vector<float> scales;
  bool all_in_the_middle = true;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      integers.set(row, column, integer_at(matrix.integers, indices.of_integer(row, column)) + shift);
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t at = indices.of_scale(row, i * block);
      const int zero = (matrix.zero ? integer_at(*matrix.zero, at) : 0) + shift;
      scales.push_back(given[static_cast<size_t>(at)]);
      zeros.set(row, i, zero);
      all_in_the_middle = all_in_the_middle && zero == middle;
    }
  }
  PackedMatrix packed{integers.take(),
                      HostTensor::from<float>(matrix.scale.dtype(), {rows, blocks}, scales),
                      {},
                      columns,
                      row_form.integers,
                      bits,
                      block};
  if (!all_in_the_middle) packed.zero = zeros.take();
  return packed;
}

}  // namespace vellum
