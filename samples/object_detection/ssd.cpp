#include "object_detection/ssd.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

struct AnchorSize {
  float scale;
  float aspect;  // width over height
};

constexpr int kGrids = 6;

float scale_of(int grid) {
  constexpr float least = 0.2f, largest = 0.95f;
  return grid < kGrids ? least + (largest - least) * static_cast<float>(grid) / (kGrids - 1) : 1.0f;
}

std::vector<AnchorSize> sizes_of(int grid) {
  const float scale = scale_of(grid);
  if (grid == 0) return {{0.1f, 1.0f}, {scale, 2.0f}, {scale, 0.5f}};
  const float between = std::sqrt(scale * scale_of(grid + 1));
  return {{scale, 1.0f}, {scale, 2.0f}, {scale, 0.5f}, {scale, 3.0f}, {scale, 0.3333f}, {between, 1.0f}};
}

Box decode_box(std::span<const float> code, const Anchor& anchor) {
  const float x = anchor.center.x + code[1] / 10 * anchor.width;
  const float y = anchor.center.y + code[0] / 10 * anchor.height;
  const float half_width = std::exp(code[3] / 5) * anchor.width / 2;
  const float half_height = std::exp(code[2] / 5) * anchor.height / 2;
  return {{x - half_width, y - half_height}, {x + half_width, y + half_height}};
}

bool is_finite(const Box& box) {
  return std::isfinite(box.top_left.x) && std::isfinite(box.top_left.y) &&
         std::isfinite(box.bottom_right.x) && std::isfinite(box.bottom_right.y);
}

}  // namespace

std::vector<Anchor> ssd_anchors(int side) {
  std::vector<Anchor> anchors;
  for (int grid = 0; grid < kGrids; ++grid) {
    const int stride = 16 << grid;
    const int cells = (side + stride - 1) / stride;
    const std::vector<AnchorSize> sizes = sizes_of(grid);
    for (int cell = 0; cell < cells * cells; ++cell) {
      const Point center{(static_cast<float>(cell % cells) + 0.5f) / static_cast<float>(cells),
                         (static_cast<float>(cell / cells) + 0.5f) / static_cast<float>(cells)};
      for (const AnchorSize& size : sizes)
        anchors.push_back({center, size.scale * std::sqrt(size.aspect), size.scale / std::sqrt(size.aspect)});
    }
  }
  return anchors;
}

std::vector<Object> decode_ssd(std::span<const float> encodings, std::span<const float> logits,
                               const std::vector<Anchor>& anchors, float score_threshold) {
  const std::size_t classes = anchors.empty() ? 0 : logits.size() / anchors.size();
  if (classes < 2 || logits.size() != classes * anchors.size() || encodings.size() != 4 * anchors.size()) {
    throw Error(ErrorCode::invalid_argument, "SSD's outputs do not belong to " +
                                                 std::to_string(anchors.size()) +
                                                 " anchors; is this another model?");
  }
  std::vector<Object> objects;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const std::span<const float> scores = logits.subspan(i * classes, classes);
    const auto best = std::max_element(scores.begin() + 1, scores.end());
    const float score = 1 / (1 + std::exp(-*best));
    const Box box = decode_box(encodings.subspan(4 * i, 4), anchors[i]);
    // Written so that a NaN score is left out.
    if (score >= score_threshold && is_finite(box))
      objects.push_back({static_cast<std::size_t>(best - scores.begin()), score, box});
  }
  return objects;
}

std::vector<Object> suppress_overlapping(std::vector<Object> objects, float overlap_threshold) {
  std::stable_sort(objects.begin(), objects.end(),
                   [](const Object& a, const Object& b) { return a.score > b.score; });
  std::vector<Object> kept;
  for (const Object& object : objects) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Object& better) {
      return overlap(better.box, object.box) > overlap_threshold;
    });
    if (!covered) kept.push_back(object);
  }
  return kept;
}

}  // namespace vellum::samples
