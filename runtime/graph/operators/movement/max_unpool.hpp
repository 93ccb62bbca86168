// The inverse of max pooling. https://onnx.ai/onnx/operators/onnx__MaxUnpool.html, and MediaPipe's operator
// of a similar name: https://github.com/google-ai-edge/mediapipe, util/tflite/operations/max_unpooling.cc
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/conv/window.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), I (X's shape, int64: MaxPool's indices), output_shape (optional). The output
// is zero except at the positions in I. Even with output_shape, the indices refer to natural_shape().
struct MaxUnpool : Operator {
  Window window;

  // Returns the output's shape that follows from the window.
  Shape natural_shape(Inputs inputs) const;

  std::string_view type() const override { return "MaxUnpool"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// MediaPipe's MaxUnpooling2D. Inputs X (N, C, H, W), I (X's shape, float32): the element of the window to
// which each value is written, counted as in Pool::window_indices and clamped to the window. The output is
// `kernel` times as large as X and zero elsewhere. Its windows of `kernel` elements begin `strides` apart.
struct MaxUnpooling2d : Operator {
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1};  // along H, along W; strides no larger than the kernel

  std::string_view type() const override { return "MaxUnpooling2D"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
