// Layer normalisation of images over their channels, as in ConvNeXt (Liu et al., arXiv 2201.03545, section
// 2.6).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs X (N, C, H, W), scale (C), B (C; optional). Computes the same as LayerNormalization over the last
// dimension of N, H, W, C, and without `centred` as RMSNormalization. Not an ONNX operator: the passes
// fuse_layer_norm and move_transposes make it.
struct ChannelNormalization : Operator {
  float epsilon = 1e-5f;
  bool centred = true;
  Activation activation;

  std::string_view type() const override { return "ChannelNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
