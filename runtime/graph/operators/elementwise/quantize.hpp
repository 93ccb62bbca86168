// Conversion between real numbers and integers of 2 to 16 bits: real = (integer - zero point) * scale.
// https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html, onnx__DequantizeLinear.html,
// onnx__DynamicQuantizeLinear.html
#pragma once

#include "graph/narrow_types.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// Inputs x, y_scale, y_zero_point (optional). The output has the dtype `to`, else the zero point's, else
// uint8. Scale and zero point are scalars or have one element per index along `axis`. Rounds half to even,
// saturates.
struct QuantizeLinear : Operator {
  int64_t axis = 1;
  std::optional<DType> to;
  int bits = 0;  // bits of the output's integers; 0: as many as its dtype has

  IntegerRange range_of(DType dtype) const;  // the range of an output of this dtype

  std::string_view type() const override { return "QuantizeLinear"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs x, x_scale, x_zero_point (optional: 0). x is of integers, or of floats that stand for 8-bit floats.
struct DequantizeLinear : Operator {
  int64_t axis = 1;

  std::string_view type() const override { return "DequantizeLinear"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Outputs y (uint8), y_scale and y_zero_point, chosen from the range of x extended to contain 0.
struct DynamicQuantizeLinear : Operator {
  std::string_view type() const override { return "DynamicQuantizeLinear"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Throws Error unless `parameter` is one value, or one for each index along `axis` of a tensor of `shape`.
void check_per_axis(const TensorType& parameter, std::string_view what, const Shape& shape, int64_t axis);
// Round half to even, add the zero point and saturate to `range`, or to the range of `dtype` (int8 or uint8).
int64_t requantize(double value, int64_t zero_point, IntegerRange range);
int64_t requantize(double value, int64_t zero_point, DType dtype);
bool is_byte(DType dtype);

}  // namespace vellum
