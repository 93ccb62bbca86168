#include "graph/operators/movement/detection_post_process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vellum {
namespace {

struct BoxCorners {
  float ymin, xmin, ymax, xmax;
  float area() const { return (ymax - ymin) * (xmax - xmin); }
};

// LiteRT computes with doubles and rounds to floats in the same places.
BoxCorners decode(const DetectionPostProcess& op, const float* box, const float* anchor) {
  const auto centre = [](float offset, float scale, float size, float position) {
    return static_cast<float>(static_cast<double>(offset) / static_cast<double>(scale) *
                                  static_cast<double>(size) +
                              static_cast<double>(position));
  };
  const auto half = [](float logarithm, float scale, float size) {
    return static_cast<float>(0.5 * std::exp(static_cast<double>(logarithm) / static_cast<double>(scale)) *
                              static_cast<double>(size));
  };
  const float y = centre(box[0], op.y_scale, anchor[2], anchor[0]),
              x = centre(box[1], op.x_scale, anchor[3], anchor[1]);
  const float half_height = half(box[2], op.height_scale, anchor[2]),
              half_width = half(box[3], op.width_scale, anchor[3]);
  return {y - half_height, x - half_width, y + half_height, x + half_width};
}

float overlap(const BoxCorners& a, const BoxCorners& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0.0f;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

// Returns the indices of the `count` greatest values, greatest first; of equal values the first one, and NaN
// last. LiteRT leaves the order of equal values to the C++ library (std::partial_sort), except for a count
// of 1.
std::vector<size_t> greatest(std::span<const float> values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto is_better = [&](size_t a, size_t b) {
    if (std::isnan(values[a]) || std::isnan(values[b]))
      return std::isnan(values[a]) == std::isnan(values[b]) ? a < b : std::isnan(values[b]);
    return values[a] == values[b] ? a < b : values[a] > values[b];
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    is_better);
  order.resize(count);
  return order;
}

// Returns at most `most` boxes whose scores reach the threshold, best first, without those that overlap a
// better one too much.
std::vector<size_t> suppress(const DetectionPostProcess& op, const std::vector<BoxCorners>& boxes,
                             std::span<const float> scores, int64_t most) {
  std::vector<size_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] >= op.score_threshold) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<size_t> kept;
  for (const size_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= most) break;
    const auto covers = [&](size_t better) {
      return overlap(boxes[better], boxes[candidate]) > op.iou_threshold;
    };
    if (std::none_of(kept.begin(), kept.end(), covers)) kept.push_back(candidate);
  }
  return kept;
}

struct Detection {
  size_t box, label;
  float score;
};

// The scores (B, columns) of a model; the first column is the background's where there is one more column
// than classes.
struct Scores {
  std::span<const float> values;
  size_t columns, background;
  size_t rows() const { return values.size() / columns; }
  std::span<const float> of_box(size_t row) const {
    return values.subspan(row * columns + background, columns - background);
  }
};

// After each class keeps the best of it and of the classes before, as LiteRT does.
std::vector<Detection> detect_by_class(const DetectionPostProcess& op, const std::vector<BoxCorners>& boxes,
                                       const Scores& scores) {
  std::vector<Detection> best;
  std::vector<float> of_class(scores.rows());
  for (size_t label = 0; label < static_cast<size_t>(op.classes); ++label) {
    for (size_t row = 0; row < of_class.size(); ++row) of_class[row] = scores.of_box(row)[label];
    for (const size_t box : suppress(op, boxes, of_class, op.detections_per_class))
      best.push_back({box, label, of_class[box]});
    std::vector<float> values;
    for (const Detection& detection : best) values.push_back(detection.score);
    std::vector<Detection> sorted;
    const size_t count = std::min(best.size(), static_cast<size_t>(op.max_detections));
    if (count == 0) continue;
    for (const size_t i : greatest(values, count)) sorted.push_back(best[i]);
    best = std::move(sorted);
  }
  return best;
}

// The four results, zero at first.
struct Results {
  HostTensor boxes, classes, scores, count;

  explicit Results(const std::vector<TensorType>& types)
      : boxes(types[0].dtype, types[0].shape),
        classes(types[1].dtype, types[1].shape),
        scores(types[2].dtype, types[2].shape),
        count(types[3].dtype, types[3].shape) {}

  void set(size_t row, const BoxCorners& box, size_t label, float score) {
    float* corner = boxes.mutable_as<float>().data() + 4 * row;
    corner[0] = box.ymin;
    corner[1] = box.xmin;
    corner[2] = box.ymax;
    corner[3] = box.xmax;
    classes.mutable_as<float>()[row] = static_cast<float>(label);
    scores.mutable_as<float>()[row] = score;
  }
  void set_count(size_t detections) { count.mutable_as<float>()[0] = static_cast<float>(detections); }
};

void write_by_class(const DetectionPostProcess& op, const std::vector<BoxCorners>& boxes,
                    const Scores& scores, Results& results) {
  const std::vector<Detection> detections = detect_by_class(op, boxes, scores);
  for (size_t i = 0; i < detections.size(); ++i)
    results.set(i, boxes[detections[i].box], detections[i].label, detections[i].score);
  results.set_count(detections.size());
}

void write_by_box(const DetectionPostProcess& op, const std::vector<BoxCorners>& boxes, const Scores& scores,
                  Results& results) {
  const auto most = static_cast<size_t>(op.max_classes_per_detection);
  const size_t labels = std::min(most, static_cast<size_t>(op.classes));
  std::vector<float> best(boxes.size());
  for (size_t row = 0; row < boxes.size(); ++row) {
    const auto of_box = scores.of_box(row);
    best[row] = of_box[greatest(of_box, labels)[0]];
  }
  const std::vector<size_t> kept = suppress(op, boxes, best, op.max_detections);
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto of_box = scores.of_box(kept[i]);
    const std::vector<size_t> order = greatest(of_box, labels);
    for (size_t k = 0; k < labels; ++k) results.set(i * most + k, boxes[kept[i]], order[k], of_box[order[k]]);
  }
  results.set_count(kept.size());
}

}  // namespace

std::vector<TensorType> DetectionPostProcess::infer(Inputs inputs) const {
  const TensorType &boxes = float_input_type(inputs, 0, "boxes"),
                   &scores = float_input_type(inputs, 1, "scores"),
                   &anchors = float_input_type(inputs, 2, "anchors");
  const bool ranks_fit = boxes.shape.size() == 3 && scores.shape.size() == 3 && anchors.shape.size() == 2;
  if (!ranks_fit || boxes.shape[0] != 1 || scores.shape[0] != 1 || boxes.shape[2] < 4 ||
      scores.shape[1] != boxes.shape[1] || anchors.shape != Shape{boxes.shape[1], 4}) {
    refuse_model("boxes are " + to_string(boxes) + ", scores " + to_string(scores) + ", anchors " +
                 to_string(anchors));
  }
  if (scores.shape[2] != classes && scores.shape[2] != classes + 1) {
    refuse_model("scores are " + to_string(scores) + " for " + std::to_string(classes) + " classes");
  }
  const int64_t rows = checked_multiply(max_detections, max_classes_per_detection);
  return {{DType::f32, {1, rows, 4}}, {DType::f32, {1, rows}}, {DType::f32, {1, rows}}, {DType::f32, {1}}};
}

std::vector<HostTensor> DetectionPostProcess::evaluate(HostInputs inputs) const {
  Results results(infer_known(*this, inputs));
  const auto encoded = inputs[0]->to_floats(), scores = inputs[1]->to_floats(),
             anchors = inputs[2]->to_floats();
  const auto count = static_cast<size_t>(inputs[0]->shape()[1]),
             width = static_cast<size_t>(inputs[0]->shape()[2]),
             columns = static_cast<size_t>(inputs[1]->shape()[2]);
  std::vector<BoxCorners> boxes;
  for (size_t i = 0; i < count; ++i)
    boxes.push_back(decode(*this, encoded.data() + i * width, anchors.data() + i * 4));
  const Scores table{scores, columns, columns - static_cast<size_t>(classes)};
  if (suppress_each_class)
    write_by_class(*this, boxes, table, results);
  else
    write_by_box(*this, boxes, table, results);
  return {results.boxes, results.classes, results.scores, results.count};
}

uint64_t DetectionPostProcess::work(Inputs inputs, Outputs outputs) const {
  const auto count = static_cast<uint64_t>(std::max<int64_t>(input_type(inputs, 0, "boxes").shape[1], 0));
  const int64_t most = suppress_each_class ? detections_per_class : max_detections;
  const uint64_t kept = std::min(count, static_cast<uint64_t>(most));
  // Each box is compared with those that are kept.
  const uint64_t comparisons = saturating_multiply(count, saturating_add(32, saturating_multiply(kept, 8)));
  const uint64_t suppressions = suppress_each_class ? static_cast<uint64_t>(classes) : 1;
  return saturating_add(elementwise_work(inputs, outputs), saturating_multiply(suppressions, comparisons));
}

Attributes DetectionPostProcess::attributes() const {
  Attributes result;
  result.set("max_detections", max_detections);
  result.set("max_classes_per_detection", max_classes_per_detection);
  result.set("detections_per_class", detections_per_class);
  result.set("num_classes", classes);
  result.set("use_regular_nms", int64_t{suppress_each_class});
  result.set("nms_score_threshold", score_threshold);
  result.set("nms_iou_threshold", iou_threshold);
  result.set("y_scale", y_scale);
  result.set("x_scale", x_scale);
  result.set("h_scale", height_scale);
  result.set("w_scale", width_scale);
  return result;
}

}  // namespace vellum
