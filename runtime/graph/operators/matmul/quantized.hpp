// Convolutions and products of 8-bit integers. https://onnx.ai/onnx/operators/onnx__QLinearConv.html,
// onnx__ConvInteger.html, onnx__QLinearMatMul.html, onnx__MatMulInteger.html
#pragma once

#include "graph/operators/conv/conv.hpp"

namespace vellum {

// Inputs x, w, x_zero_point, w_zero_point (optional): int32 sums of (x - x zero) * (w - w zero).
struct ConvInteger : Operator {
  Conv conv;

  std::string_view type() const override { return "ConvInteger"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override { return conv.attributes(); }
};

// Inputs x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B (int32, optional).
struct QLinearConv : Operator {
  Conv conv;

  std::string_view type() const override { return "QLinearConv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override { return conv.attributes(); }
};

// Inputs A, B, a_zero_point, b_zero_point (optional): int32.
struct MatMulInteger : Operator {
  std::string_view type() const override { return "MatMulInteger"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
};

// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. Rows of a and columns of b
// may have scales and zero points of their own; those of y have one value.
struct QLinearMatMul : Operator {
  std::string_view type() const override { return "QLinearMatMul"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
};

}  // namespace vellum
