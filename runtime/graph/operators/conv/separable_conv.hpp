// Depthwise separable convolution: a depthwise convolution and a 1x1 convolution of what it computes (Howard
// et al., MobileNets, arXiv 1704.04861, section 3.1).
#pragma once

#include "graph/operators/conv/conv.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W1 (C, 1, kernel...), B1 (C) optional, W2 (M, C, 1...), B2 (M) optional:
//   y = pointwise(W2 depthwise(W1 X + B1) + B2 + residual),
// with the activations of the two convolutions. Input 5, optional, is the residual of Conv, of y's shape or
// with fewer channels. Not an ONNX operator: passes/fuse_separable.hpp makes it.
struct SeparableConv : Operator {
  Conv depthwise, pointwise;

  std::string_view type() const override { return "SeparableConv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;

  // The type of what the depthwise convolution computes.
  TensorType middle(Inputs inputs) const;
};

}  // namespace vellum
