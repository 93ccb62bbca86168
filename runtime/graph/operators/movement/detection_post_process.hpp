// TFLite_Detection_PostProcess, the custom operator at the end of TensorFlow's SSD and EfficientDet-Lite:
// decodes boxes relative to anchors and suppresses those that overlap better ones. It computes what LiteRT's
// tflite/kernels/detection_postprocess.cc does.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs boxes (1, B, 4 or more): y, x of the centre and height, width relative to the anchor (1);
//        scores (1, B, classes, optionally after one for the background); anchors (B, 4): y, x, height,
//        width.
// Outputs, with N = max_detections * max_classes_per_detection:
//        boxes (1, N, 4): ymin, xmin, ymax, xmax; classes (1, N); scores (1, N); number of detections (1).
// All are float32. Rows without a detection are zero.
// (1) y = boxes.y / scale.y * anchor.height + anchor.y, height = exp(boxes.height / scale.height) *
//     anchor.height; x and width follow the same formulas.
struct DetectionPostProcess : Operator {
  int64_t max_detections = 0;
  int64_t max_classes_per_detection = 0;  // of one box, if `suppress_each_class` is false
  int64_t detections_per_class = 100;     // if `suppress_each_class` is true
  int64_t classes = 0;                    // without the background
  // Suppress the boxes of each class separately and keep the best of all classes. Otherwise suppress boxes by
  // their best class and keep each with its best classes.
  bool suppress_each_class = false;
  float score_threshold = 0.0f, iou_threshold = 0.0f;
  float y_scale = 1.0f, x_scale = 1.0f, height_scale = 1.0f, width_scale = 1.0f;

  std::string_view type() const override { return "TFLite_Detection_PostProcess"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
