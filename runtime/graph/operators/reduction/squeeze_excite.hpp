// Squeeze-and-excitation: computes a factor for each channel of a tensor from the means of all channels (Hu
// et al., Squeeze-and-Excitation Networks, arXiv 1709.01507, section 3).
#pragma once

#include "graph/operators/conv/conv.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W1 (S, C, 1...), B1 (S) optional, W2 (M, S, 1...), B2 (M) optional:
//   y = gate(W2 hidden(W1 mean(X) + B1) + B2), of shape (N, M, 1...),
// with the mean over the spatial dimensions. Not an ONNX operator: the pass fuse_squeeze_excite makes it.
struct SqueezeExcite : Operator {
  Activation hidden, gate;

  std::string_view type() const override { return "SqueezeExcite"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
