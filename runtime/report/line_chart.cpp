#include "report/line_chart.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "vellum/error.hpp"
#include "vellum/planner/svg.hpp"

namespace vellum {
namespace {

using planner::svg_escaped;
using planner::svg_number;

constexpr double kWidth = 640, kHeight = 400, kLeft = 84, kRight = 16, kTop = 44, kBottom = 84;
// Colours and dashes of the lines; the dashes distinguish them in grey too.
constexpr const char* kColours[] = {"#0b6e99", "#c2410c", "#3f7d20", "#7c3aed", "#6b7280"};
constexpr const char* kDashes[] = {"", "6 3", "2 3", "8 3 2 3", "12 4"};

// 1, 2 or 5 times a power of ten MiB: at most eight steps.
double axis_step(double most) {
  for (double power = 1e-3;; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (most / (factor * power) <= 8) return factor * power;
}

class Chart {
 public:
  explicit Chart(const LineChart& chart) : chart_(chart) {
    for (const ChartLine& line : chart.lines)
      for (const auto& [x, y] : line.points) {
        least_x_ = std::min(least_x_, x);
        most_x_ = std::max(most_x_, x);
        most_ = std::max(most_, y);
      }
    if (most_x_ <= least_x_) most_x_ = least_x_ + 1;
    most_ = std::max(most_, 1e-3);
  }

  std::string svg() const {
    std::string out =
        planner::svg_begin(kWidth, kHeight) + text(kLeft, 24, "start", chart_.title, " font-size=\"15\"");
    out += axes();
    for (size_t i = 0; i < chart_.lines.size(); ++i) out += line(i);
    return out + mark() + "</svg>\n";
  }

 private:
  double x(double value) const {
    return kLeft + (value - least_x_) / (most_x_ - least_x_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - value / (most_ * 1.05) * (kHeight - kTop - kBottom);
  }

  static std::string text(double x, double y, const char* anchor, const std::string& what,
                          const std::string& more = "") {
    return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" + anchor + "\"" +
           more + ">" + svg_escaped(what) + "</text>\n";
  }

  std::string axes() const {
    std::string out;
    const double step = axis_step(most_ * 1.05);
    for (int i = 0; i * step <= most_ * 1.05; ++i) {
      const double at = y(i * step);
      out += "<line x1=\"" + svg_number(kLeft) + "\" x2=\"" + svg_number(kWidth - kRight) + "\" y1=\"" +
             svg_number(at) + "\" y2=\"" + svg_number(at) + "\" stroke=\"#ddd\"/>\n";
      char label[32];
      std::snprintf(label, sizeof label, chart_.y_format, i * step);
      out += text(kLeft - 6, at + 4, "end", label);
    }
    std::vector<double> marks;
    for (const ChartLine& line : chart_.lines)
      for (const auto& point : line.points) marks.push_back(point.first);
    std::sort(marks.begin(), marks.end());
    marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
    double last = -1e9;
    for (const double mark : marks) {
      const double at = x(mark);
      if (at - last < 30) continue;  // labels would overlap
      last = at;
      char label[32];
      std::snprintf(label, sizeof label, chart_.x_format, mark);
      out += text(at, kHeight - kBottom + 18, "middle", label);
    }
    return out + text((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 36, "middle", chart_.axis);
  }

  std::string line(size_t index) const {
    const ChartLine& line = chart_.lines[index];
    const std::string style = std::string("stroke=\"") + kColours[index % std::size(kColours)] +
                              "\" stroke-width=\"2\" fill=\"none\" stroke-dasharray=\"" +
                              kDashes[index % std::size(kDashes)] + "\"";
    std::string path, dots;
    for (size_t i = 0; i < line.points.size(); ++i) {
      const std::string at_x = svg_number(x(line.points[i].first)),
                        at_y = svg_number(y(line.points[i].second));
      path += (path.empty() ? "M" : "L") + at_x + " " + at_y;
      dots += "<circle cx=\"" + at_x + "\" cy=\"" + at_y + "\" r=\"3\" fill=\"" +
              kColours[index % std::size(kColours)] + "\"><title>" + svg_escaped(line.titles[i]) +
              "</title></circle>\n";
    }
    const double slot = (kWidth - kLeft - kRight) / 3;
    const double left = kLeft + slot * static_cast<double>(index % 3);
    const double down = kHeight - 30 + 18 * static_cast<double>(index / 3);
    return "<path d=\"" + path + "\" " + style + "/>\n" + dots + "<path d=\"M" + svg_number(left) + " " +
           svg_number(down - 4) + "h24\" " + style + "/>\n" + text(left + 30, down, "start", line.name);
  }

  std::string mark() const {
    if (chart_.mark_label.empty()) return {};
    const double at_x = x(chart_.mark.first), at_y = y(chart_.mark.second);
    return "<circle cx=\"" + svg_number(at_x) + "\" cy=\"" + svg_number(at_y) +
           "\" r=\"8\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"/>\n" +
           text(at_x + 12, at_y - 10, "start", chart_.mark_label);
  }

  const LineChart& chart_;
  double least_x_ = 1e18, most_x_ = 0, most_ = 0;
};

}  // namespace

std::string line_chart_svg(const LineChart& chart) {
  size_t points = 0;
  for (const ChartLine& line : chart.lines) points += line.points.size();
  if (points == 0) throw Error(ErrorCode::invalid_argument, "a curve of no points");
  return Chart(chart).svg();
}

}  // namespace vellum
