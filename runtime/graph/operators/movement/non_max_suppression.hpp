// Non-maximum suppression of boxes. https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs boxes (N, B, 4), scores (N, classes, B), and optional scalars max_output_boxes_per_class,
// iou_threshold, score_threshold. Output (kept, 3), int64: batch, class and box index of each box that is
// kept. The shape is data-dependent unless all inputs are known before running.
struct NonMaxSuppression : Operator {
  // Boxes are x, y of the centre, width, height; otherwise y1, x1, y2, x2 of two opposite corners.
  bool center_point_box = false;

  std::string_view type() const override { return "NonMaxSuppression"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
