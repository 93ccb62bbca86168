// Draws memory over a dimension of the inputs: plain values in, an SVG document out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vellum/export.h"

namespace vellum {

struct MemoryLine {
  std::string name;
  // The size of the dimension (such as the batch), and bytes.
  std::vector<std::pair<int64_t, uint64_t>> points;
};

struct MemoryCurve {
  std::string title, axis;
  std::vector<MemoryLine> lines;  // the first five have distinct colours
};

// Returns a self-contained SVG document, 640 units wide. Throws Error(invalid_argument) if there is no point.
VELLUM_API std::string memory_curve_svg(const MemoryCurve& curve);

}  // namespace vellum
