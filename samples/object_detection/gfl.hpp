// Decodes the outputs of detectors without anchors whose heads have a distribution of each distance, as
// PicoDet (Yu et al. 2021, arXiv 2111.00902), NanoDet and YOLOv8 do: Li et al. 2020, "Generalized focal
// loss", arXiv 2006.04388, section 3.2.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "object_detection/ssd.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {

// One grid of cells, row by row. scores: [cells][classes], 0..1; distances: [cells][4][bins], logits of the
// distance of the left, top, right and bottom side from the cell's centre, in cells.
struct GflGrid {
  int rows = 0, columns = 0;
  std::span<const float> scores, distances;
};

// Returns the grids of strides 8, 16, ... of an input of height x width that the outputs [1, cells, classes]
// and [1, cells, 4 * bins] have. The spans point into the tensors. Throws vellum::Error (invalid_argument) if
// there is none.
std::vector<GflGrid> find_gfl_grids(const std::map<std::string, Tensor>& outputs, int height, int width,
                                    std::size_t classes);

// Returns the most likely class of each cell whose score reaches the threshold.
std::vector<Object> decode_gfl(const GflGrid& grid, std::size_t classes, float score_threshold);

}  // namespace vellum::samples
