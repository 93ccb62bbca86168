// Transposed convolution. https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/conv/fixed_point.hpp"
#include "graph/operators/conv/window.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W (C, M / group, kernel...), B (M) optional. One to three spatial dimensions.
struct ConvTranspose : Operator {
  Window window;
  std::vector<int64_t> output_padding;  // empty: zeros
  std::vector<int64_t> output_shape;    // spatial sizes; empty: computed from pads
  int64_t group = 1;
  Activation activation;
  // The integer arithmetic of a quantised model, without groups; null for other models.
  std::shared_ptr<const FixedPoint> fixed_point = nullptr;
  bool adds_integers() const { return fixed_point && group == 1 && fixed_point->fits(activation, false); }

  // `input` of the placement is X, `output` is Y: out = in * stride - pads_begin + kernel index * dilation.
  WindowPlacement place(Inputs inputs) const;

  std::string_view type() const override { return "ConvTranspose"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
