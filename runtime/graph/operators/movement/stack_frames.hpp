// Frames of a volume, side by side in the channels: what makes a convolution of volumes one of pictures.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input X (N * frames, C, H, W), floats: each image of N is `frames` pictures. The output (N * output_frames,
// kernel * D, H, W) has the pictures that a window of `kernel` pictures covers: channel k * D + c of picture
// f is channel c of picture f * stride + k * dilation - padding. D is C, rounded up to a multiple of four
// where the window has several pictures. Channels from C on, and pictures that X does not have, are zero. Not
// an ONNX operator: the pass volumes_to_frames makes it.
struct StackFrames : Operator {
  int64_t frames = 1, output_frames = 1;
  int64_t kernel = 1, stride = 1, dilation = 1, padding = 0;

  std::string_view type() const override { return "StackFrames"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// D of above.
inline int64_t stacked_channels(int64_t channels, int64_t kernel) {
  return kernel == 1 ? channels : (channels + 3) / 4 * 4;
}

}  // namespace vellum
