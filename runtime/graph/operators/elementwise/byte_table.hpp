// Functions of one tensor of a quantised model, as a table of all 256 results.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs X and table, a constant of 256 floats. X has the numbers x_step * (first + i), 0 <= i < 256; the
// output is table[i], which has the numbers of a byte grid: y_step * (y_least ... y_most). Not an ONNX
// operator: the importer of TFLite files makes it (import/tflite/byte_tables.hpp).
struct ByteTable : Operator {
  static constexpr int kEntries = 256;
  float x_step = 1.0f, y_step = 1.0f;
  int64_t first = 0;
  int64_t y_least = 0, y_most = 255;

  std::string_view type() const override { return "ByteTable"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
