// https://onnx.ai/onnx/operators/onnx__LpNormalization.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Divides by the L1 or L2 norm along `axis`.
struct LpNormalization : Operator {
  int64_t axis = -1;
  int64_t p = 2;

  std::string_view type() const override { return "LpNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
