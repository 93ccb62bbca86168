// Elementwise functions of one tensor: activations, mathematics, Not. One page for each name under
// https://onnx.ai/onnx/operators/ (onnx__Relu.html, ...).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class UnaryKind : uint8_t {
  activation,
  abs,
  neg,
  sign,
  exp,
  log,
  sqrt,
  reciprocal,
  floor,
  ceil,
  round,  // half to even
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  logical_not,
  bitwise_not,
  is_nan,
  is_inf
};

// Input X; output of the same shape, bool for is_nan and is_inf.
struct Unary : Operator {
  UnaryKind kind = UnaryKind::activation;
  Activation activation;                                // kind == activation only
  bool detect_positive = true, detect_negative = true;  // is_inf

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(
      const Activation& added) const override;  // rounding, bounds
  Attributes attributes() const override;
};

// Clip whose bounds are inputs (opset 11 on): X, min (optional), max (optional), both scalars.
// https://onnx.ai/onnx/operators/onnx__Clip.html
struct Clip : Operator {
  std::string_view type() const override { return "Clip"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Returns the activation that a node computes, if it is a Unary or a Clip with known bounds. Otherwise
// returns nothing.
std::optional<Activation> as_activation(const Operator& op, Inputs inputs);

}  // namespace vellum
