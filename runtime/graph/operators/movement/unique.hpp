// Distinct elements. https://onnx.ai/onnx/operators/onnx__Unique.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input X. Outputs: the distinct elements, or with an axis the distinct slices; and as int64 the index of the
// first occurrence of each, the index of the distinct element for each element of X, and the number of
// occurrences of each. The number of distinct elements is data-dependent.
struct Unique : Operator {
  std::optional<int64_t> axis;
  bool sorted = true;  // else in the order of first occurrence

  std::string_view type() const override { return "Unique"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
