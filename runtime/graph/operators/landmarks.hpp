// MediaPipe's operators for attention to a region (Grishchenko et al., "Attention Mesh: High-fidelity Face
// Mesh Prediction in Real-time", 2020, section 2): from landmarks to the region's matrix, from the matrix to
// a crop of the features, and the landmarks found in the crop back again. Version 2 of each. A matrix is N x
// 4 x 4, of which rows 0 and 1 are used: (x, y) -> rows * (x, y, 0, 1).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input landmarks (N, L, 3): the matrix (N, 4, 4) from positions in the crop (width x height) to those in
// which the landmarks are given. The crop is the scaled bounding box of `subset`, turned so that the line
// from landmark `left` to `right` gets the angle `target_rotation`.
struct LandmarksToMatrix : Operator {
  int64_t left = 0, right = 0;
  Ints subset;
  int64_t width = 1, height = 1;
  float scale_x = 1.0f, scale_y = 1.0f;
  float target_rotation = 0.0f;  // radians

  std::string_view type() const override { return "Landmarks2TransformMatrix"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs X (N, C, H, W), matrix (N, 4, 4): (N, C, height, width), bilinear between the centres of pixels,
// zero where a position is beyond the centres of the outermost ones.
struct TransformTensorBilinear : Operator {
  int64_t width = 1, height = 1;

  std::string_view type() const override { return "TransformTensorBilinear"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs landmarks (N, L, 2 or 3), matrix (N, 4, 4): x and y transformed, z as it was.
struct TransformLandmarks : Operator {
  std::string_view type() const override { return "TransformLandmarks"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum
