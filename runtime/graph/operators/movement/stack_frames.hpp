// Stacks consecutive frames of a volume in the channels, so that a 3D convolution becomes a 2D convolution.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input X (N * frames, C, H, W), floats: each image of N is `frames` pictures. Each picture of the output (N
// * output_frames, kernel * D, H, W) stacks the pictures in a window of `kernel` pictures: channel k * D + c
// of picture f is channel c of picture f * stride + k * dilation - padding of X. D is C, rounded up to a
// multiple of four if the window has several pictures. Channels c >= C and pictures outside of X are zero.
// Not an ONNX operator: the pass volumes_to_frames makes it.
struct StackFrames : Operator {
  int64_t frames = 1, output_frames = 1;
  int64_t kernel = 1, stride = 1, dilation = 1, padding = 0;

  std::string_view type() const override { return "StackFrames"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Returns D, the channels of each stacked picture.
inline int64_t stacked_channels(int64_t channels, int64_t kernel) {
  return kernel == 1 ? channels : (channels + 3) / 4 * 4;
}

}  // namespace vellum
