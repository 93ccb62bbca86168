// https://onnx.ai/onnx/operators/onnx__Unique.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input X: what it has without repetition, elements or, with an axis, slices; then where each stands first,
// for each of the input which one it is, and how often each is there, all int64.
struct Unique : Operator {
  std::optional<int64_t> axis;
  bool sorted = true;  // else in the order of first occurrence

  std::string_view type() const override { return "Unique"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
