// A convolution and the mean of what it computes over all pixels: the end of a classifier.
#pragma once

#include "graph/operators/conv/conv.hpp"

namespace vellum {

// Inputs those of Conv: X, W, B, residual and scale, the last three optional. Output: the mean of each
// channel of the convolution, of shape (N, M, 1...). Not an ONNX operator: compile/fuse_means.hpp makes it.
struct ConvMean : Operator {
  Conv conv;

  std::string_view type() const override { return "ConvMean"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override { return conv.macs(inputs); }
  Attributes attributes() const override { return conv.attributes(); }
};

}  // namespace vellum
