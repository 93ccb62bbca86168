#include "face_detection/blazeface.hpp"

#include <cstddef>
#include <string>

#include "io/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

constexpr std::size_t values_per_box = 16;
constexpr AnchorGrid fine_grid{16, 2};
constexpr AnchorGrid coarse_grid{8, 6};

void require_size(const char* name, std::span<const float> values, std::size_t expected) {
  if (values.size() != expected) {
    throw Error(ErrorCode::invalid_argument, std::string("BlazeFace's ") + name + " have " +
                                                 std::to_string(values.size()) + " values instead of " +
                                                 std::to_string(expected) + "; is this another model?");
  }
}

const Tensor* find_output(const std::map<std::string, Tensor>& outputs, const Shape& shape) {
  for (const auto& [name, tensor] : outputs)
    if (tensor.shape() == shape) return &tensor;
  return nullptr;
}

}  // namespace

FrameInput blazeface_frame(FrameInput frame, int side) {
  frame.mean.fill(127.5f);
  frame.scale.fill(1 / 127.5f);
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::letterbox(io::size_of(frame), {length, length});
  return frame;
}

BlazeFaceOutputs find_blazeface_outputs(const std::map<std::string, Tensor>& outputs) {
  const auto find = [&](int64_t anchors, int64_t values) {
    const Shape shape{1, anchors, values};
    if (const Tensor* tensor = find_output(outputs, shape)) return tensor->as<float>();
    throw Error(ErrorCode::invalid_argument,
                "the model is no BlazeFace: it has no output of shape " + to_string(shape));
  };
  if (!find_output(outputs, {1, 896, 1})) return {find(512, 1), find(384, 1), find(512, 16), find(384, 16)};
  const std::span<const float> scores = find(896, 1), boxes = find(896, 16);
  return {scores.first(512), scores.subspan(512), boxes.first(512 * 16), boxes.subspan(512 * 16)};
}

std::vector<Face> decode_blazeface(const BlazeFaceOutputs& outputs, int side, float score_threshold) {
  require_size("fine scores", outputs.fine_scores, fine_grid.anchors());
  require_size("coarse scores", outputs.coarse_scores, coarse_grid.anchors());
  require_size("fine boxes", outputs.fine_boxes, fine_grid.anchors() * values_per_box);
  require_size("coarse boxes", outputs.coarse_boxes, coarse_grid.anchors() * values_per_box);
  std::vector<Face> faces =
      decode_grid(fine_grid, outputs.fine_scores, outputs.fine_boxes, side, score_threshold);
  const std::vector<Face> large =
      decode_grid(coarse_grid, outputs.coarse_scores, outputs.coarse_boxes, side, score_threshold);
  faces.insert(faces.end(), large.begin(), large.end());
  return faces;
}

}  // namespace vellum::samples
