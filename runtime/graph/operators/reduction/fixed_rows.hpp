// Functions of the rows of a quantised tensor in integers, as LiteRT's reference kernels compute them:
// reference/softmax.h, reference/l2normalization.h and reference/integer_ops/l2normalization.h in
// tflite/kernels/internal/.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operator_support.hpp"
#include "graph/operators/reduction/softmax.hpp"

namespace vellum {

// softmax: of 8 bits; softmax_16: of 16 bits. unit_length: the row divided by its Euclidean length, of int8;
// unit_length_u8: the same of uint8, which LiteRT rounds at another place.
enum class FixedRowsKind : uint8_t { softmax, softmax_16, unit_length, unit_length_u8 };

// Input X: integers times x_step. The result is integers in y_least..y_most times y_step. Rows are along
// `axis`. Not an ONNX operator: the importer of TFLite files makes it.
struct FixedRows : Operator {
  FixedRowsKind kind = FixedRowsKind::softmax;
  int64_t axis = -1;
  float x_step = 1.0f, y_step = 1.0f;
  int64_t y_least = 0, y_most = 255;
  float beta = 1.0f;  // softmax is exp(beta * x), normalised

  // Returns whether beta * x_step is one that LiteRT accepts.
  static bool is_scale(float scale) { return scale > 0x1p-25f && scale < 0x1p20f; }
  bool is_softmax() const { return kind <= FixedRowsKind::softmax_16; }
  // Returns exp() of -beta * x_step * i for each i from 0 on, as integers times 2^-31 (softmax) or 2^-15.
  std::vector<int32_t> exponentials() const;

  std::string_view type() const override { return "FixedRows"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Returns the ends of the segments of 1 / (1 + x) for x in [0, 1), in Q0.15 (look_up()).
std::vector<int32_t> reciprocals_of_16_bits();

}  // namespace vellum
