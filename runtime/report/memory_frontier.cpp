#include "vellum/memory_frontier.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "report/line_chart.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

double mebibytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

ChartLine line(const char* name, const std::vector<FrontierPoint>& points,
               const std::vector<double>& milliseconds) {
  ChartLine result{name, {}, {}};
  for (size_t i = 0; i < points.size(); ++i) {
    result.points.emplace_back(mebibytes(points[i].budget), milliseconds[i]);
    char text[96];
    std::snprintf(text, sizeof text, "%s, %.3f MiB: %.4g ms", name, mebibytes(points[i].budget),
                  milliseconds[i]);
    result.titles.emplace_back(text);
  }
  return result;
}

}  // namespace

std::string memory_frontier_svg(const std::string& title, const MemoryFrontier& frontier,
                                const std::vector<double>& measured) {
  if (!measured.empty() && measured.size() != frontier.points.size())
    throw Error(ErrorCode::invalid_argument, "a frontier has one measured time for each point");
  std::vector<double> predicted;
  for (const FrontierPoint& point : frontier.points) predicted.push_back(point.predicted_ms);
  LineChart chart{.title = title, .axis = "memory budget, MiB", .x_format = "%.3g", .y_format = "%g ms"};
  if (!measured.empty()) chart.lines.push_back(line("measured", frontier.points, measured));
  chart.lines.push_back(line("predicted", frontier.points, predicted));
  if (frontier.knee < frontier.points.size()) {
    chart.mark = chart.lines.front().points[frontier.knee];
    chart.mark_label = "knee";
  }
  return line_chart_svg(chart);
}

}  // namespace vellum
