// Constant matrices of integers of 4 or 8 bits with a scale for each block, in the form that BlockProduct and
// BlockGather read (graph/operators/matmul/block_weights.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// A DequantizeLinear of constants that makes a matrix of floats.
struct DequantizedMatrix {
  HostTensor integers, scale;  // integers: int8 or uint8
  std::optional<HostTensor> zero;
  size_t axis = 0;    // of the scales, if there are several
  int64_t block = 0;  // elements along the axis that share a scale; 0: one scale for each index

  const Shape& shape() const { return integers.shape(); }
  // Returns how many consecutive elements along `dimension`, from multiples of that number on, share a scale.
  int64_t shared_scale(size_t dimension) const;
  // Returns whether all zero points are equal.
  bool has_one_zero_point() const;
  // Returns 4 if all integers and zero points have at most 4 bits, else 8.
  int64_t bits() const;
};

// Matches a DequantizeLinear of a constant matrix of bytes by constants whose result has the type of the
// scales.
std::optional<DequantizedMatrix> match_dequantized_matrix(const GraphEditor& editor, size_t index);

// The matrix by rows: those along `dimension` of the original are the rows here.
//   integers  (rows, bytes of `row` integers) uint8, the lowest bits first; those after the columns are 0
//   scales    (rows, blocks)
//   zero      (rows, bytes of `blocks` integers) uint8; nothing if all are 2^(bits - 1)
struct PackedMatrix {
  HostTensor integers, scales;
  std::optional<HostTensor> zero;
  int64_t columns = 0, row = 0, bits = 0, block = 0;
};

// The integers that share a scale, and those of a row with its padding. The last block may be cut short.
struct PackedRow {
  int64_t block = 0, integers = 0;
};

// `row`: its block is shared_scale(1 - dimension), or any length if that is the length of a row.
PackedMatrix pack_matrix(const DequantizedMatrix& matrix, size_t dimension, int64_t bits,
                         const PackedRow& row);

}  // namespace vellum
