// Convolution. https://onnx.ai/onnx/operators/onnx__Conv.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/window.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W (M, C / group, kernel...), B (M) optional. One to three spatial dimensions.
// Depthwise is group == C.
struct Conv : Operator {
  Window window;
  int64_t group = 1;
  Activation activation;

  WindowPlacement place(Inputs inputs) const;

  std::string_view type() const override { return "Conv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
