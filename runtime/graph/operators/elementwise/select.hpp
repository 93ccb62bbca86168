// Elementwise choices. https://onnx.ai/onnx/operators/onnx__PRelu.html, onnx__Where.html, onnx__Shrink.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"

namespace vellum {

// Inputs X and slope, which broadcasts to X's shape: X < 0 ? slope * X : X.
struct PRelu : Operator {
  bool scalar_slope = false;  // before opset 7 only a single slope broadcasts
  // Not empty: the integer arithmetic of a quantised model. Integers >= 0 are multiplied by `a`, the products
  // of other integers with slopes by `y`.
  FixedPair fixed_point = {};

  std::string_view type() const override { return "PRelu"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Inputs condition (bool), X, Y of any one dtype, all three broadcast together.
struct Where : Operator {
  std::string_view type() const override { return "Where"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// x < -lambda ? x + bias : x > lambda ? x - bias : 0.
struct Shrink : Operator {
  float lambda = 0.5f, bias = 0.0f;

  std::string_view type() const override { return "Shrink"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
