// Elementwise functions of two tensors with numpy broadcasting: arithmetic, comparison, logic. One page per
// name under https://onnx.ai/onnx/operators/ (onnx__Add.html, ...); broadcasting:
// https://onnx.ai/onnx/repo-docs/Broadcasting.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class BinaryKind : uint8_t {
  add,
  sub,
  mul,
  squared_difference,  // of a quantised model
  div,
  pow,
  min,
  max,
  mod,   // sign of the divisor
  fmod,  // sign of the dividend
  equal,
  greater,
  less,
  greater_or_equal,
  less_or_equal,
  logical_and,
  logical_or,
  logical_xor,
  shift_left,
  shift_right,  // copies the sign bit of signed integers
  bitwise_and,
  bitwise_or,
  bitwise_xor
};

constexpr bool is_comparison(BinaryKind kind) {
  return kind >= BinaryKind::equal && kind <= BinaryKind::less_or_equal;
}
constexpr bool is_bitwise(BinaryKind kind) { return kind >= BinaryKind::shift_left; }
constexpr bool is_logical(BinaryKind kind) {
  return kind >= BinaryKind::logical_and && kind <= BinaryKind::logical_xor;
}

// Inputs A and B of one dtype (Pow: the exponent may have another). Output: A's dtype, bool for comparison
// and logic.
struct Binary : Operator {
  BinaryKind kind = BinaryKind::add;
  Activation activation;
  // Not empty: the integer arithmetic of a quantised model's addition, subtraction, multiplication or
  // squared difference.
  FixedPair fixed_point = {};
  bool combines_integers() const { return fixed_point && activation.bounds_steps_of(fixed_point.y_step); }

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;

 private:
  HostTensor combine_integers(const HostTensor& a, const HostTensor& b, const Shape& shape) const;
};

// Sum, Mean, Min and Max of one or more inputs of one dtype, broadcast together.
struct Variadic : Operator {
  BinaryKind kind = BinaryKind::add;  // add, min or max
  bool mean = false;                  // with add: divided by the number of inputs

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum
