// Operators that compute values from shapes, or tensors from shapes; most models use int64.
// https://onnx.ai/onnx/operators/onnx__Shape.html, onnx__Size.html, onnx__ConstantOfShape.html,
// onnx__Constant.html, onnx__Range.html, onnx__EyeLike.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Dimensions [start, end) of the input, as int64.
struct ShapeOf : Operator {
  int64_t start = 0, end = INT64_MAX;

  std::string_view type() const override { return "Shape"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  bool reads_types_only() const override { return true; }
  HostTensor evaluate_types(Inputs inputs) const override;
  Attributes attributes() const override;
};

// Number of elements of the input, as an int64 scalar.
struct SizeOf : Operator {
  std::string_view type() const override { return "Size"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  bool reads_types_only() const override { return true; }
  HostTensor evaluate_types(Inputs inputs) const override;
};

// A tensor whose shape is the value of the input, filled with the one element of `value`.
struct ConstantOfShape : Operator {
  HostTensor value;

  std::string_view type() const override { return "ConstantOfShape"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

struct Constant : Operator {
  HostTensor value;

  std::string_view type() const override { return "Constant"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs start, limit, delta, scalars of one numeric dtype.
struct Range : Operator {
  std::string_view type() const override { return "Range"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Ones on diagonal k of a matrix of the input's shape.
struct EyeLike : Operator {
  std::optional<DType> dtype;  // default: the input's
  int64_t k = 0;

  std::string_view type() const override { return "EyeLike"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  bool reads_types_only() const override { return true; }
  HostTensor evaluate_types(Inputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
