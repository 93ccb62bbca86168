// A function of a tensor of a quantised model, as a table with the result for each value that an element of 8
// or 16 bits may have.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs: X, and a table, which is a constant of 256 or 65,536 floats. Each element of X is
// x_step * (first + i) for an index i of the table, and its output is table[i]. The elements of the table are
// y_step times integers in y_least..y_most. Not an ONNX operator: the importer of TFLite files makes it
// (import/tflite/byte_tables.hpp).
struct ByteTable : Operator {
  static constexpr int kEntries = 256, kEntriesOf16Bits = 65536;
  float x_step = 1.0f, y_step = 1.0f;
  int64_t first = 0;
  int64_t y_least = 0, y_most = 255;

  std::string_view type() const override { return "ByteTable"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
