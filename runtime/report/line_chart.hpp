// A chart of lines as SVG, for memory curves and frontiers.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vellum {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<std::string> titles;  // tooltip of each point
};

struct LineChart {
  std::string title, axis;  // axis: label of x
  // printf formats of the numbers along the axes.
  const char* x_format = "%.6g";
  const char* y_format = "%g";
  std::vector<ChartLine> lines;  // the first five have distinct colours
  // A point that is marked.
  std::pair<double, double> mark = {0, 0};
  std::string mark_label;  // empty: no mark
};

// Returns a self-contained SVG document, 640 units wide; y begins at 0. Throws Error(invalid_argument) if
// there is no point.
std::string line_chart_svg(const LineChart& chart);

}  // namespace vellum
