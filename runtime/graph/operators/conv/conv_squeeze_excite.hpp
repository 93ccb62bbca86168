// A convolution and the squeeze-and-excitation of what it computes.
#pragma once

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"

namespace vellum {

// Inputs X, W, B of the convolution, B optional, then W1, B1, W2, B2 of the squeeze-and-excitation
// (SqueezeExcite), B1 and B2 optional. Outputs:
//   y = conv(X, W, B)
//   gates = squeeze_excite(y, W1, B1, W2, B2)
// Not an ONNX operator: compile/fuse_means.hpp makes it.
struct ConvSqueezeExcite : Operator {
  Conv conv;
  SqueezeExcite squeeze;

  std::string_view type() const override { return "ConvSqueezeExcite"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
