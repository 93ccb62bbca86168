// Weights of MatMulNBits (com.microsoft): integers of 2, 4 or 8 bits with a scale for each block of a column.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Expands the weights. With B = ceil(rows / block) blocks in a column:
//   inputs  0 integers (columns, B, block * bits / 8) uint8, the lowest bits first; or (columns, length *
//   bits / 8)
//           1 scales (columns * B), float
//           2 zero points, optional (default: 2^(bits - 1)): (columns, ceil(B * bits / 8)) uint8, packed, or
//             (columns * B) float
//           3 the block of each row, optional: (rows), int32
//   output  (rows, columns) of the scales' type: (integer - zero point) * scale
struct BlockWeights : Operator {
  int64_t rows = 0, columns = 0, bits = 4, block = 32;

  // The integers of a column, if the last block is cut short after all rows; 0: blocks are whole. Models have
  // whole blocks.
  int64_t length = 0;

  int64_t blocks() const { return (rows + block - 1) / block; }
  int64_t column_integers() const { return length > 0 ? length : blocks() * block; }
  // Returns the zero point of each block of each column. `given`: input 2, or null if it is omitted.
  std::vector<float> zero_points(const HostTensor* given) const;

  std::string_view type() const override { return "BlockWeights"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
