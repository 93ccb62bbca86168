#include "graph/operators/movement/non_max_suppression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vellum {

namespace {

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

Box read_box(const float* values, bool center_point) {
  if (center_point) {
    const float half_width = values[2] / 2.0f, half_height = values[3] / 2.0f;
    return {values[0] - half_width, values[1] - half_height, values[0] + half_width, values[1] + half_height};
  }
  return {std::min(values[1], values[3]), std::min(values[0], values[2]), std::max(values[1], values[3]),
          std::max(values[0], values[2])};
}

float intersection_over_union(const Box& a, const Box& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0.0f || height <= 0.0f) return 0.0f;
  const float both = width * height;
  return both / (a.area() + b.area() - both);
}

// Returns the boxes of one class, best first, without those that overlap a better one too much. Ignores boxes
// whose score is NaN.
std::vector<int64_t> keep_boxes(const std::vector<Box>& boxes, std::span<const float> scores, int64_t most,
                                float iou_threshold, std::optional<float> score_threshold) {
  std::vector<int64_t> order(boxes.size()), kept;
  std::iota(order.begin(), order.end(), int64_t{0});
  std::erase_if(order, [&](int64_t i) {
    const float score = scores[static_cast<size_t>(i)];
    return std::isnan(score) || (score_threshold && !(score > *score_threshold));
  });
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= most) break;
    const auto overlaps = [&](int64_t better) {
      return intersection_over_union(boxes[static_cast<size_t>(better)],
                                     boxes[static_cast<size_t>(candidate)]) > iou_threshold;
    };
    if (std::none_of(kept.begin(), kept.end(), overlaps)) kept.push_back(candidate);
  }
  return kept;
}

std::optional<float> optional_scalar(Inputs inputs, size_t index, std::string_view what) {
  if (!has_input(inputs, index)) return std::nullopt;
  const auto values = constant_input(inputs, index, what).to_floats();
  if (values.size() != 1) refuse_model("input '" + std::string(what) + "' is not one number");
  return values[0];
}

void check_types(const TensorType& boxes, const TensorType& scores) {
  const bool fits = boxes.shape.size() == 3 && scores.shape.size() == 3 && boxes.shape[2] == 4 &&
                    boxes.shape[0] == scores.shape[0] && boxes.shape[1] == scores.shape[2];
  if (!fits) refuse_model("boxes are " + to_string(boxes) + ", scores " + to_string(scores));
}

// Triples of batch, class, box.
Ints select(Inputs inputs, bool center_point) {
  const TensorType &boxes_type = float_input_type(inputs, 0, "boxes"),
                   &scores_type = float_input_type(inputs, 1, "scores");
  check_types(boxes_type, scores_type);
  const auto box_values = constant_input(inputs, 0, "boxes").to_floats();
  const auto scores = constant_input(inputs, 1, "scores").to_floats();
  const Ints most =
      has_input(inputs, 2) ? constant_input(inputs, 2, "max_output_boxes_per_class").to_ints() : Ints{0};
  if (most.size() != 1) refuse_model("max_output_boxes_per_class is not one number");
  const float iou_threshold = optional_scalar(inputs, 3, "iou_threshold").value_or(0.0f);
  const auto score_threshold = optional_scalar(inputs, 4, "score_threshold");
  const auto count = static_cast<size_t>(boxes_type.shape[1]);
  Ints result;
  for (int64_t n = 0; n < boxes_type.shape[0]; ++n) {
    std::vector<Box> boxes;
    for (size_t i = 0; i < count; ++i) {
      boxes.push_back(read_box(box_values.data() + (static_cast<size_t>(n) * count + i) * 4, center_point));
    }
    for (int64_t c = 0; c < scores_type.shape[1]; ++c) {
      const auto row =
          std::span(scores).subspan(static_cast<size_t>(n * scores_type.shape[1] + c) * count, count);
      for (const int64_t box : keep_boxes(boxes, row, most[0], iou_threshold, score_threshold)) {
        result.insert(result.end(), {n, c, box});
      }
    }
  }
  return result;
}

}  // namespace

std::vector<TensorType> NonMaxSuppression::infer(Inputs inputs) const {
  return {{DType::i64, {static_cast<int64_t>(select(inputs, center_point_box).size() / 3), 3}}};
}

std::vector<TensorType> NonMaxSuppression::infer_open(Inputs inputs) const {
  check_types(float_input_type(inputs, 0, "boxes"), float_input_type(inputs, 1, "scores"));
  if (all_known(inputs)) return {};
  return {{DType::i64, {kUnknownDim, 3}}};
}

std::vector<HostTensor> NonMaxSuppression::evaluate(HostInputs inputs) const {
  const Ints kept = select(known_inputs(inputs), center_point_box);
  return {HostTensor::i64({static_cast<int64_t>(kept.size() / 3), 3}, kept)};
}

uint64_t NonMaxSuppression::work(Inputs inputs, Outputs outputs) const {
  const Shape& scores = input_type(inputs, 1, "scores").shape;
  const auto count = static_cast<uint64_t>(scores[2]);
  uint64_t kept = count;
  if (has_input(inputs, 2) && inputs[2].constant != nullptr && inputs[2].constant->elements() == 1)
    kept = std::min(count, static_cast<uint64_t>(std::max<int64_t>(inputs[2].constant->to_ints()[0], 0)));
  // Each box is compared with those that are kept.
  const uint64_t rows =
      saturating_multiply(static_cast<uint64_t>(scores[0]), static_cast<uint64_t>(scores[1]));
  const uint64_t comparisons = saturating_multiply(count, saturating_add(32, saturating_multiply(kept, 4)));
  return saturating_add(elementwise_work(inputs, outputs), saturating_multiply(rows, comparisons));
}

Attributes NonMaxSuppression::attributes() const {
  Attributes result;
  result.set("center_point_box", int64_t{center_point_box});
  return result;
}

std::shared_ptr<const Operator> make_non_max_suppression(const NodeSpec& spec) {
  auto op = std::make_shared<NonMaxSuppression>();
  op->center_point_box = get_flag(*spec.attributes, "center_point_box", false);
  return op;
}

}  // namespace vellum
