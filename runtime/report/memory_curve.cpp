#include "vellum/memory_curve.hpp"

#include <string>
#include <utility>

#include "report/line_chart.hpp"

namespace vellum {

std::string memory_curve_svg(const MemoryCurve& curve) {
  LineChart chart{.title = curve.title, .axis = curve.axis, .y_format = "%g MiB"};
  for (const MemoryLine& line : curve.lines) {
    ChartLine& added = chart.lines.emplace_back(ChartLine{line.name, {}, {}});
    for (const auto& [x, bytes] : line.points) {
      added.points.emplace_back(static_cast<double>(x), static_cast<double>(bytes) / (1 << 20));
      added.titles.push_back(line.name + ", " + std::to_string(x) + ": " + std::to_string(bytes) + " bytes");
    }
  }
  return line_chart_svg(chart);
}

}  // namespace vellum
