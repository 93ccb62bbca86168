// https://onnx.ai/onnx/operators/onnx__Concat.html, onnx__Split.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// One or more inputs of one dtype, equal in every dimension but `axis`.
struct Concat : Operator {
  int64_t axis = 0;

  std::string_view type() const override { return "Concat"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Input X, cut along `axis`; sizes as attribute (opset < 13) or input 1, else equal parts, the last one
// smaller where opset 18 allows it.
struct Split : Operator {
  int64_t axis = 0;
  std::optional<Ints> split;
  size_t output_count = 1;
  bool uneven = false;

  // Sizes of the outputs along the axis.
  Ints sizes(Inputs inputs) const;

  std::string_view type() const override { return "Split"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
