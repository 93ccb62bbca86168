// MediaPipe's operators that restrict attention to a region of a face (Grishchenko et al., "Attention Mesh:
// High-fidelity Face Mesh Prediction in Real-time", 2020, section 2), version 2 of each:
//   landmarks --> matrix of the region --> crop of the features
//   landmarks in the crop --> landmarks in the image
// A matrix is (N, 4, 4), of which rows 0 and 1 are used: (x, y) -> rows * (x, y, 0, 1).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input landmarks (N, L, 3). Output: the matrix (N, 4, 4) from positions in the crop (width x height) to the
// coordinates of the landmarks. The crop is the scaled bounding box of the landmarks in `subset`, rotated so
// that the line from landmark `left` to `right` has the angle `target_rotation`.
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

// Inputs X (N, C, H, W), matrix (N, 4, 4). Output (N, C, height, width): X sampled bilinearly between the
// centres of pixels; zero at positions beyond the centres of the outermost pixels.
struct TransformTensorBilinear : Operator {
  int64_t width = 1, height = 1;

  std::string_view type() const override { return "TransformTensorBilinear"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs landmarks (N, L, 2 or 3), matrix (N, 4, 4). Output: landmarks with x and y transformed, z unchanged.
struct TransformLandmarks : Operator {
  std::string_view type() const override { return "TransformLandmarks"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum
