// The report of a quantised model as a picture.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "vellum/planner/svg.hpp"
#include "vellum/quantize.hpp"

namespace vellum {
namespace {

using planner::svg_escaped;

constexpr int kWidth = 760, kLabels = 260, kRow = 14, kTop = 56, kBar = kWidth - kLabels - 60;
constexpr double kMostDecibels = 60.0;

std::string shortened(const std::string& name) {
  constexpr size_t kMost = 38;
  return name.size() <= kMost ? name : "..." + name.substr(name.size() - kMost + 3);
}

std::string decibels(double ratio) {
  if (!std::isfinite(ratio)) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", ratio);
  return text;
}

int length(double ratio) {
  if (!std::isfinite(ratio)) return kBar;
  return static_cast<int>(std::lround(std::clamp(ratio / kMostDecibels, 0.0, 1.0) * kBar));
}

std::string bar(int y, int height, double ratio, const char* colour) {
  return "<rect x=\"" + std::to_string(kLabels) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(length(ratio)) + "\" height=\"" + std::to_string(height) + "\" fill=\"" + colour +
         "\"/>\n";
}

std::string row(const QuantizedLayer& layer, int y) {
  std::string text = "<g><title>" + svg_escaped(layer.op + " " + layer.name) + ": own " +
                     decibels(layer.own_ratio) + ", network " + decibels(layer.network_ratio) +
                     (layer.in_integers ? "" : ", in floats") + "</title>\n<text x=\"" +
                     std::to_string(kLabels - 6) + "\" y=\"" + std::to_string(y + 10) +
                     "\" text-anchor=\"end\">" + svg_escaped(shortened(layer.name)) + "</text>\n";
  text += bar(y + 1, 5, layer.own_ratio, layer.in_integers ? "#7aa6d6" : "#c8c8c8");
  text += bar(y + 6, 5, layer.network_ratio, "#d68a3c");
  return text + "<text x=\"" + std::to_string(kLabels + kBar + 6) + "\" y=\"" + std::to_string(y + 10) +
         "\">" + decibels(layer.network_ratio) + "</text></g>\n";
}

}  // namespace

std::string quantized_model_svg(const std::string& title, const QuantizedModel& model) {
  const int height = kTop + kRow * static_cast<int>(model.layers.size()) + 12;
  std::string svg =
      planner::svg_begin(kWidth, height) + "<text x=\"12\" y=\"20\" font-size=\"14\">" + svg_escaped(title) +
      "</text>\n<g font-size=\"9\">\n<text x=\"12\" y=\"38\">signal to noise of each layer: blue with its "
      "own integers alone (grey: in floats), orange in the network</text>\n";
  int y = kTop;
  for (const QuantizedLayer& layer : model.layers) {
    svg += row(layer, y);
    y += kRow;
  }
  return svg + "</g>\n</svg>\n";
}

}  // namespace vellum
