// Convolution. https://onnx.ai/onnx/operators/onnx__Conv.html
#pragma once

#include <functional>

#include "graph/operator_support.hpp"
#include "graph/operators/window.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), W (M, C / group, kernel...), B (M) optional. One to three spatial dimensions.
// Depthwise is group == C.
//
// Beyond ONNX, input 3 may hold a residual: a tensor of the output's shape, or of fewer channels, where the
// missing ones count as zero. It is added before the activation. Only passes/fuse_residual makes such a Conv.
// Input 4 may hold a factor for each channel of X, of shape (N, C, 1...), by which X is multiplied first:
// only passes/fuse_channel_scale makes such a one.
struct Conv : Operator {
  Window window;
  int64_t group = 1;
  Activation activation;

  WindowPlacement place(Inputs inputs) const;

  // The sums before bias and activation, one output plane of one filter after the other; x and w are float32
  // of shapes that infer() has accepted. In double, which is exact for products of 8-bit integers.
  using Sink = std::function<void(int64_t filter, std::span<const double> plane)>;
  void convolve(const HostTensor& x, const HostTensor& w, const Sink& sink) const;

  std::string_view type() const override { return "Conv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
