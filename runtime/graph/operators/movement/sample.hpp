// Samples images at computed positions. https://onnx.ai/onnx/operators/onnx__GridSample.html,
// onnx__RoiAlign.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class SampleMode : uint8_t { nearest, linear, cubic };
enum class SamplePadding : uint8_t { zeros, border, reflection };

// Inputs X (N, C, H, W), grid (N, H_out, W_out, 2) of (x, y) in [-1, 1]; or X (N, C, D, H, W), grid
// (N, D_out, H_out, W_out, 3) of (x, y, z), without cubic.
struct GridSample : Operator {
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;

  // Converts a coordinate in [-1, 1] to a position in elements.
  double position(float grid, int64_t size) const;
  // Applies the padding mode: returns the position to read instead of x. Zero is read at positions outside of
  // [0, size).
  double pad(double x, int64_t size) const;

  std::string_view type() const override { return "GridSample"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

// Inputs X (N, C, H, W), rois (R, 4) as x1, y1, x2, y2, batch_indices (R, int64). Output (R, C, height,
// width).
struct RoiAlign : Operator {
  bool maximum = false;  // true: mode max; false: average
  int64_t height = 1, width = 1;
  int64_t sampling_ratio = 0;  // samples per bin and axis; 0: as many as the bin has elements
  float spatial_scale = 1.0f;
  bool half_pixel = true;

  std::string_view type() const override { return "RoiAlign"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
