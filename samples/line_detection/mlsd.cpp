#include "line_detection/mlsd.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "io/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

Line line_at(std::size_t cell, std::span<const float> displacement, std::size_t side, float score) {
  const auto x = static_cast<float>(cell % side), y = static_cast<float>(cell / side);
  const auto cells = static_cast<float>(side);
  return {score,
          {(x + displacement[0]) / cells, (y + displacement[1]) / cells},
          {(x + displacement[2]) / cells, (y + displacement[3]) / cells}};
}

const Tensor& output_with_channels(const std::map<std::string, Tensor>& outputs, int64_t channels) {
  for (const auto& [name, tensor] : outputs) {
    const Shape& shape = tensor.shape();
    if (shape.size() == 4 && shape[0] == 1 && shape[1] == shape[2] && shape[3] == channels) return tensor;
  }
  throw Error(ErrorCode::invalid_argument,
              "the model is no M-LSD: it has no square output of " + std::to_string(channels) + " channels");
}

// Whether `line` repeats `better`: the distance of its ends from it is at most `most`, and they overlap by at
// least half of the shorter line.
bool lies_on(const Line& line, const Line& better, float most) {
  const float x = better.end.x - better.start.x, y = better.end.y - better.start.y, length = std::hypot(x, y);
  const auto beside = [&](Point point) {
    return std::abs((point.x - better.start.x) * y - (point.y - better.start.y) * x) / length;
  };
  const auto along = [&](Point point) {
    return ((point.x - better.start.x) * x + (point.y - better.start.y) * y) / length;
  };
  if (beside(line.start) > most || beside(line.end) > most) return false;
  const auto [first, last] = std::minmax(along(line.start), along(line.end));
  return std::min(last, length) - std::max(first, 0.0f) >= std::min(last - first, length) / 2;
}

}  // namespace

FrameInput mlsd_frame(FrameInput frame, int side) {
  frame.scale[3] = 1 / 255.0f;  // alpha, which is 255
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::stretch(io::size_of(frame), {length, length});
  return frame;
}

MlsdOutputs find_mlsd_outputs(const std::map<std::string, Tensor>& outputs) {
  const Tensor& scores = output_with_channels(outputs, 1);
  return {scores.as<float>(), output_with_channels(outputs, 4).as<float>(),
          static_cast<int>(scores.shape()[1])};
}

std::vector<Line> decode_mlsd(std::span<const float> scores, std::span<const float> displacements, int side,
                              const MlsdThresholds& thresholds) {
  const auto cells_per_side = static_cast<std::size_t>(std::max(side, 0));
  if (side < 1 || scores.size() != cells_per_side * cells_per_side ||
      displacements.size() != 4 * scores.size()) {
    throw Error(ErrorCode::invalid_argument,
                "M-LSD's scores and displacements do not belong to one square grid; is this another model?");
  }
  std::vector<Line> lines;
  for (std::size_t cell = 0; cell < scores.size(); ++cell) {
    if (!(scores[cell] >= thresholds.score)) continue;  // written so that a NaN score is left out
    const Line line = line_at(cell, displacements.subspan(4 * cell, 4), cells_per_side, scores[cell]);
    const float length = std::hypot(line.end.x - line.start.x, line.end.y - line.start.y);
    if (std::isfinite(length) && length >= thresholds.length) lines.push_back(line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.score > b.score; });
  std::vector<Line> chosen;
  for (const Line& line : lines) {
    if (chosen.size() == thresholds.lines) break;
    const bool is_new = std::ranges::none_of(chosen, [&](const Line& better) {
      return lies_on(line, better, thresholds.beside) || lies_on(better, line, thresholds.beside);
    });
    if (is_new) chosen.push_back(line);
  }
  return chosen;
}

}  // namespace vellum::samples
