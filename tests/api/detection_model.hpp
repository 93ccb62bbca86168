// A small detector: a convolution computes boxes and scores, non-maximum suppression selects some, and these
// are gathered, as in exports of SSD and YOLO.
#pragma once

#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

inline constexpr float kIouThreshold = 0.3f, kScoreThreshold = 0.6f;

// Input "image" (1, 3, 6, 5). Outputs "all_boxes" (30, 4) and "all_scores" (1, 2, 30) from the device, and
// after the suppression "count", "boxes" (count, 4), "scores" (count) and "classes" (count, float).
inline OnnxModel detection_model(int64_t most_per_class = 5) {
  const auto longs = [](const Shape& shape, const std::vector<int64_t>& values) {
    return HostTensor::i64(shape, values);
  };
  OnnxModel model;
  model.input("image", {1, 3, 6, 5})
      .initializer("weights", random_tensor({6, 3, 1, 1}, 1))
      .initializer("most", longs({1}, {most_per_class}))
      .initializer("iou", HostTensor::f32({1}, std::vector<float>{kIouThreshold}))
      .initializer("score", HostTensor::f32({1}, std::vector<float>{kScoreThreshold}))
      .initializer("parts", longs({2}, {4, 2}))
      .initializer("as_boxes", longs({3}, {1, 4, 30}))
      .initializer("as_scores", longs({3}, {1, 2, 30}))
      .initializer("first", longs({1}, {0}))
      .initializer("column_1", longs({1}, {1}))
      .initializer("column_2", longs({1}, {2}))
      .initializer("column_3", longs({1}, {3}))
      .initializer("axis_1", longs({1}, {1}))
      .node("Conv", {"image", "weights"}, {"head"}, {}, "head")
      .node("Split", {"head", "parts"}, {"box_head", "score_head"}, attributes({{"axis", int64_t{1}}}))
      .node("Reshape", {"box_head", "as_boxes"}, {"boxes_nchw"})
      .node("Transpose", {"boxes_nchw"}, {"boxes_in"}, attributes({{"perm", std::vector<int64_t>{0, 2, 1}}}))
      .node("Squeeze", {"boxes_in", "first"}, {"all_boxes"})
      .node("Sigmoid", {"score_head"}, {"probabilities"})
      .node("Reshape", {"probabilities", "as_scores"}, {"all_scores"})
      .node("NonMaxSuppression", {"boxes_in", "all_scores", "most", "iou", "score"}, {"selected"}, {}, "nms")
      .node("Slice", {"selected", "column_2", "column_3", "axis_1"}, {"box_column"})
      .node("Squeeze", {"box_column", "axis_1"}, {"box_index"})
      .node("Gather", {"all_boxes", "box_index"}, {"boxes"}, {}, "pick")
      .node("GatherND", {"all_scores", "selected"}, {"scores"})
      .node("Slice", {"selected", "column_1", "column_2", "axis_1"}, {"class_column"})
      .node("Squeeze", {"class_column", "axis_1"}, {"class_index"})
      .node("Cast", {"class_index"}, {"classes"}, attributes({{"to", int64_t{1}}}))
      .node("Shape", {"selected"}, {"selected_shape"})
      .node("Gather", {"selected_shape", "first"}, {"count"})
      .output("all_boxes")
      .output("count")
      .output("boxes")
      .output("scores")
      .output("classes")
      .output("all_scores");
  return model;
}

}  // namespace vellum::test
