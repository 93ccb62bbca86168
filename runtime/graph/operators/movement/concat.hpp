// Concatenation and its inverse. https://onnx.ai/onnx/operators/onnx__Concat.html, onnx__Split.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// One or more inputs of one dtype, with equal dimensions except `axis`.
struct Concat : Operator {
  int64_t axis = 0;

  std::string_view type() const override { return "Concat"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Input X, split along `axis`. The sizes are an attribute (opset < 13) or input 1; without either the outputs
// are equal, except that opset 18 allows a smaller last one (`uneven`).
struct Split : Operator {
  int64_t axis = 0;
  std::optional<Ints> split;
  size_t output_count = 1;
  bool uneven = false;

  // Returns the sizes of the outputs along the axis.
  Ints sizes(Inputs inputs) const;

  std::string_view type() const override { return "Split"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
