// https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs boxes (N, B, 4), scores (N, classes, B), and optional scalars max_output_boxes_per_class,
// iou_threshold, score_threshold: (kept, 3) of batch, class and box index, int64. How many boxes are kept is
// the output's shape, so that a run tells it unless all inputs are known before.
struct NonMaxSuppression : Operator {
  bool center_point_box =
      false;  // x, y of the centre, width, height; else y1, x1, y2, x2 of two opposite corners

  std::string_view type() const override { return "NonMaxSuppression"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
