// The beginning of an inverted residual: a 1x1 convolution and a depthwise convolution of what it computes
// (Sandler et al., MobileNetV2, arXiv 1801.04381, figure 3b), with squeeze-and-excitation of that or without.
#pragma once

#include <optional>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W1 (M, C, 1...), B1 (M) optional, W2 (M, 1, kernel...), B2 (M) optional, then
// with `squeeze` those of SqueezeExcite after its first: W3, B3, W4, B4. Outputs:
//   y = depthwise(W2 pointwise(W1 X + B1) + B2), with the activations of the two convolutions
//   gates = squeeze_excite(y, W3, B3, W4, B4), with `squeeze`
// Not an ONNX operator: compile/fuse_expand.hpp makes it.
struct ExpandConv : Operator {
  Conv pointwise, depthwise;
  std::optional<SqueezeExcite> squeeze;

  std::string_view type() const override { return "ExpandConv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;

  // The type of what the 1x1 convolution computes.
  TensorType middle(Inputs inputs) const;
  // Multiply-accumulates of the 1x1 convolution alone.
  uint64_t pointwise_macs(Inputs inputs) const;
};

}  // namespace vellum
