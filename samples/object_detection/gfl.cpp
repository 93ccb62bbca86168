#include "object_detection/gfl.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

// The mean of the distribution: the sum of softmax(logits)[i] * i.
float expected_bin(std::span<const float> logits) {
  const float most = *std::ranges::max_element(logits);
  float weights = 0, sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float weight = std::exp(logits[i] - most);
    weights += weight;
    sum += weight * static_cast<float>(i);
  }
  return sum / weights;
}

const Tensor* output_of_shape(const std::map<std::string, Tensor>& outputs, int64_t cells, bool is_scores,
                              int64_t classes) {
  for (const auto& [name, tensor] : outputs) {
    const Shape& shape = tensor.shape();
    if (shape.size() != 3 || shape[0] != 1 || shape[1] != cells || tensor.dtype() != DType::f32) continue;
    if (is_scores ? shape[2] == classes : shape[2] != classes && shape[2] % 4 == 0 && shape[2] >= 8)
      return &tensor;
  }
  return nullptr;
}

}  // namespace

std::vector<GflGrid> find_gfl_grids(const std::map<std::string, Tensor>& outputs, int height, int width,
                                    std::size_t classes) {
  std::vector<GflGrid> grids;
  for (const int stride : {8, 16, 32, 64, 128}) {
    const int rows = (height + stride - 1) / stride, columns = (width + stride - 1) / stride;
    const int64_t cells = int64_t{rows} * columns;
    const Tensor* const scores = output_of_shape(outputs, cells, true, static_cast<int64_t>(classes));
    const Tensor* const distances = output_of_shape(outputs, cells, false, static_cast<int64_t>(classes));
    if (scores && distances) grids.push_back({rows, columns, scores->as<float>(), distances->as<float>()});
  }
  if (grids.empty())
    throw Error(ErrorCode::invalid_argument,
                "the model is no detector with these labels: it has no outputs [1, cells, " +
                    std::to_string(classes) + "] and [1, cells, 4 * bins]");
  return grids;
}

std::vector<Object> decode_gfl(const GflGrid& grid, std::size_t classes, float score_threshold) {
  const std::size_t cells = static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns);
  const std::size_t bins = cells == 0 ? 0 : grid.distances.size() / (4 * cells);
  if (bins < 2 || classes < 1 || grid.scores.size() != cells * classes ||
      grid.distances.size() != 4 * bins * cells)
    throw Error(ErrorCode::invalid_argument,
                "the detector's outputs do not belong to a grid of " + std::to_string(cells) + " cells");
  std::vector<Object> objects;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::span<const float> scores = grid.scores.subspan(cell * classes, classes);
    const auto best = std::ranges::max_element(scores);
    // Written so that a NaN is left out.
    if (!(*best >= score_threshold)) continue;
    std::array<float, 4> sides{};
    for (std::size_t side = 0; side < 4; ++side)
      sides[side] = expected_bin(grid.distances.subspan((4 * cell + side) * bins, bins));
    if (!std::ranges::all_of(sides, [](float side) { return std::isfinite(side); })) continue;
    const auto columns = static_cast<float>(grid.columns), rows = static_cast<float>(grid.rows);
    const float x = static_cast<float>(cell % static_cast<std::size_t>(grid.columns)) + 0.5f,
                y = static_cast<float>(cell / static_cast<std::size_t>(grid.columns)) + 0.5f;
    objects.push_back({static_cast<std::size_t>(best - scores.begin()),
                       *best,
                       {{(x - sides[0]) / columns, (y - sides[1]) / rows},
                        {(x + sides[2]) / columns, (y + sides[3]) / rows}}});
  }
  return objects;
}

}  // namespace vellum::samples
