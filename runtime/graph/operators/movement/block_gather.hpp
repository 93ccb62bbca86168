// GatherBlockQuantized (com.microsoft) with a table that stays packed: rows of integers of 4 or 8 bits.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Gathers rows of a table and expands them: (integer - zero point) * scale. The body of GatherBlockQuantized
// has this operator if the table is a constant matrix whose blocks are along its rows.
//   inputs  0 table (rows, columns), or with packed_pairs (rows, columns / 2): uint8 or int8. With 4 bits but
//             without packed_pairs a byte holds one integer, as int4 and uint4 are stored
//           1 indices, int32 or int64; negative ones count from the end
//           2 scales (rows, blocks), float
//           3 zero points, optional: like the table, with a column for each block. Otherwise they are 0 for
//             int8, and 2 ^ (bits - 1) for uint8 if is_centred
//   output  (shape of indices, columns) of the scales' type
struct BlockGather : Operator {
  int64_t bits = 4, block = 128;
  bool packed_pairs = false;
  bool is_centred = false;
  // The host gathers the rows from its own memory. split_large_layers() sets this for tables that are too
  // large for the device.
  bool on_host = false;

  int64_t columns(const Shape& table) const { return table[1] * (packed_pairs ? 2 : 1); }
  // Returns an integer of a row of the table or of the zero points.
  int integer(const HostTensor& tensor, int64_t row, int64_t column) const;
  // The zero point of a block if input 3 is omitted.
  int64_t default_zero(DType table) const { return is_centred && table == DType::u8 ? 1 << (bits - 1) : 0; }

  std::string_view type() const override { return "BlockGather"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
