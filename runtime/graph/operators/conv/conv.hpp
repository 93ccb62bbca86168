// Convolution. https://onnx.ai/onnx/operators/onnx__Conv.html
#pragma once

#include <array>
#include <functional>

#include "graph/operator_support.hpp"
#include "graph/operators/conv/fixed_point.hpp"
#include "graph/operators/conv/window.hpp"

namespace vellum {

// The taps of some channels of a depthwise convolution: a box in its window, along (z, y, x). Elements of X
// under the other taps are not read, so that infinities and NaN there do not reach the result.
struct ChannelTaps {
  int64_t channels = 0;
  std::array<int64_t, 3> first{}, count{};
  bool operator==(const ChannelTaps&) const = default;
};

// Inputs X (N, C, spatial...), W (M, C / group, kernel...), B (M) optional. One to three spatial dimensions.
// Depthwise is group == C.
//
// Two inputs extend ONNX:
// - Input 3 is a residual that is added before the activation. It has the output's shape, or fewer channels;
//   missing channels are zero. Only the pass fuse_residual adds this input.
// - Input 4 is a factor for each channel of X, of shape (N, C, 1...), by which X is multiplied first. The
//   products may be rounded (`scaling`). Only the pass fuse_channel_scale adds this input.
struct Conv : Operator {
  Window window;
  int64_t group = 1;
  Activation activation;
  // A rounding of the products of X and input 4; none for products that are not rounded. Not used with
  // fixed_point.
  Activation scaling = {};
  // The integer arithmetic of a quantised model; null for other models. Kernels that accumulate in floats
  // ignore it.
  std::shared_ptr<const FixedPoint> fixed_point = nullptr;
  // The taps of all channels in their order; empty: all taps of all channels. Only the pass
  // merge_depthwise_banks sets it, where X and Y have equally many channels.
  std::vector<ChannelTaps> channel_taps = {};

  WindowPlacement place(Inputs inputs) const;

  // Computes the sums before bias and activation, and calls `sink` with each output plane of each filter. x
  // and w are both float32 or both float64, of shapes that infer() has accepted. The sums are double, which
  // is exact for products of 8-bit integers.
  using Sink = std::function<void(int64_t filter, std::span<const double> plane)>;
  void convolve(const HostTensor& x, const HostTensor& w, const Sink& sink) const;

  std::string_view type() const override { return "Conv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;

 private:
  std::vector<HostTensor> evaluate_integers(HostInputs inputs, const TensorType& type) const;
  template <typename Real>
  void convolve_in(const HostTensor& x, const HostTensor& w, const Sink& sink) const;
};

}  // namespace vellum
