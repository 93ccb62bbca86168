#include "line_detection/mlsd.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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

}  // namespace

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
  if (lines.size() > thresholds.lines) lines.resize(thresholds.lines);
  return lines;
}

}  // namespace vellum::samples
