#include "e2e/decision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, HostTensor>;

const HostTensor& output(const Decision& decision, const Outputs& from) {
  return decision.outputs.empty() ? from.begin()->second : from.at(decision.outputs.front());
}

// Concatenates the values of several outputs.
std::vector<float> joined(const std::vector<std::string>& names, const Outputs& from) {
  std::vector<float> values;
  for (const std::string& name : names) {
    const std::vector<float> part = from.at(name).to_floats();
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

struct Box {
  double x0, y0, x1, y1;
  float score;
};

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  return both / ((a.x1 - a.x0) * (a.y1 - a.y0) + (b.x1 - b.x0) * (b.y1 - b.y0) - both);
}

struct Centre {
  double x, y;
};

// MediaPipe's SSD anchors of fixed size: the centres of a grid's cells, as often as a stride is repeated
// (mediapipe/calculators/tflite/ssd_anchors_calculator.cc).
std::vector<Centre> anchors(const Decision& decision) {
  std::vector<Centre> centres;
  for (size_t begin = 0; begin < decision.strides.size();) {
    const int stride = decision.strides[begin];
    size_t end = begin;
    while (end < decision.strides.size() && decision.strides[end] == stride) ++end;
    const int cells = (decision.side + stride - 1) / stride;
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (size_t repeat = begin; repeat < end; ++repeat)
          centres.push_back({(x + 0.5) * decision.side / cells, (y + 0.5) * decision.side / cells});
    begin = end;
  }
  return centres;
}

// Boxes that score above one half, without those that overlap a stronger one by 30 %.
std::vector<Box> boxes(const Decision& decision, const Outputs& from) {
  const std::vector<float> scores = joined(decision.outputs, from),
                           regressions = joined(decision.boxes, from);
  const std::vector<Centre> centres = anchors(decision);
  if (centres.size() != scores.size())
    throw std::runtime_error("models.json: the strides give other anchors");
  const size_t numbers = regressions.size() / scores.size();
  std::vector<Box> candidates;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] <= 0) continue;  // before the sigmoid
    const float* box = &regressions[i * numbers];
    const double x = centres[i].x + box[0], y = centres[i].y + box[1];
    candidates.push_back({x - box[2] / 2, y - box[3] / 2, x + box[2] / 2, y + box[3] / 2, scores[i]});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Box& a, const Box& b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box& box : candidates)
    if (std::none_of(kept.begin(), kept.end(), [&](const Box& other) { return overlap(box, other) > 0.3; }))
      kept.push_back(box);
  return kept;
}

std::string boxes_differ(const Decision& decision, const Outputs& got, const Outputs& want) {
  const std::vector<Box> a = boxes(decision, got), b = boxes(decision, want);
  if (a.size() != b.size()) return std::to_string(a.size()) + " boxes instead of " + std::to_string(b.size());
  for (const Box& box : b) {
    double best = 0;
    for (const Box& other : a) best = std::max(best, overlap(box, other));
    if (best < decision.box_overlap) return "a box overlaps its like by " + std::to_string(best);
  }
  return {};
}

std::string masks_differ(const Decision& decision, const Outputs& got, const Outputs& want) {
  const std::vector<float> a = output(decision, got).to_floats(), b = output(decision, want).to_floats();
  size_t both = 0, either = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    const bool in_a = a[i] > decision.threshold, in_b = b[i] > decision.threshold;
    both += in_a && in_b;
    either += in_a || in_b;
  }
  const double ratio = either ? static_cast<double>(both) / static_cast<double>(either) : 1;
  return ratio > 0.99 ? std::string() : "the masks overlap by " + std::to_string(ratio);
}

// A line of M-LSD: the cell of its centre, and its ends (x, y, x, y) in cells.
struct Line {
  int x, y;
  float score;
  std::array<double, 4> ends;
};

std::vector<Line> lines_from(const Outputs& outputs, float least_score) {
  const HostTensor& map = outputs.at("scores");
  const std::vector<float> scores = map.to_floats(), offsets = outputs.at("offsets").to_floats();
  const auto side = static_cast<size_t>(map.shape().at(2));
  std::vector<Line> lines;
  for (size_t cell = 0; cell < scores.size(); ++cell) {
    if (!(scores[cell] >= least_score)) continue;
    Line line{static_cast<int>(cell % side), static_cast<int>(cell / side), scores[cell], {}};
    for (size_t i = 0; i < 4; ++i)
      line.ends[i] = static_cast<double>(i % 2 == 0 ? line.x : line.y) + double{offsets[4 * cell + i]};
    lines.push_back(line);
  }
  return lines;
}

bool is_same_line(const Line& a, const Line& b) {
  if (std::abs(a.x - b.x) > 1 || std::abs(a.y - b.y) > 1) return false;
  for (size_t i = 0; i < 4; ++i)
    if (!(std::abs(a.ends[i] - b.ends[i]) <= 2)) return false;
  return true;
}

// A line that scores a little more than the threshold in one result may score a little less in the other, but
// no line that is clear of the threshold may be without a counterpart.
std::string lines_differ(const Outputs& got, const Outputs& want) {
  constexpr float threshold = 0.1F, band = 0.02F;
  size_t clear = 0;
  for (const auto& [from, in] : {std::pair(&got, &want), std::pair(&want, &got)}) {
    const std::vector<Line> candidates = lines_from(*in, threshold - band);
    for (const Line& line : lines_from(*from, threshold + band)) {
      ++clear;
      if (std::none_of(candidates.begin(), candidates.end(),
                       [&](const Line& other) { return is_same_line(line, other); }))
        return "the line at " + std::to_string(line.x) + ", " + std::to_string(line.y) + ", score " +
               std::to_string(line.score) + ", is only in " + (from == &got ? "this" : "the reference");
    }
  }
  return clear ? std::string() : "no line";
}

std::string landmarks_differ(const Decision& decision, const Outputs& got, const Outputs& want) {
  for (const std::string& name : decision.outputs) {
    const std::vector<float> a = got.at(name).to_floats(), b = want.at(name).to_floats();
    double sum = 0;
    for (size_t i = 0; i < b.size(); ++i) sum += std::abs(double{a[i]} - b[i]);
    const double mean = sum / static_cast<double>(b.size());
    if (!(mean <= decision.side * 0.01)) return name + " is off by " + std::to_string(mean) + " on average";
  }
  return {};
}

// The position of the largest element of each row along the last dimension.
std::vector<size_t> row_maxima(const HostTensor& tensor) {
  const std::vector<float> values = tensor.to_floats();
  const auto width = static_cast<size_t>(tensor.shape().back());
  std::vector<size_t> result;
  for (size_t begin = 0; begin < values.size(); begin += width) {
    const auto row = std::span(values).subspan(begin, width);
    result.push_back(static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return result;
}

// Character numbers of a batch of lines, each line ended by 0.
std::vector<size_t> decode_text(const HostTensor& tensor) {
  const std::vector<size_t> steps = row_maxima(tensor);
  const auto length = static_cast<size_t>(tensor.shape().at(1));
  std::vector<size_t> text;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool repeated = i % length != 0 && steps[i] == steps[i - 1];
    if (steps[i] != 0 && !repeated) text.push_back(steps[i]);
    if (i % length == length - 1) text.push_back(0);
  }
  return text;
}

size_t best_of_all(const HostTensor& tensor) {
  const std::vector<float> values = tensor.to_floats();
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

std::string differs(const Decision& decision, const Outputs& got, const Outputs& want) {
  if (decision.kind == "boxes") return boxes_differ(decision, got, want);
  if (decision.kind == "mask") return masks_differ(decision, got, want);
  if (decision.kind == "lines") return lines_differ(got, want);
  if (decision.kind == "landmarks") return landmarks_differ(decision, got, want);
  const HostTensor &a = output(decision, got), &b = output(decision, want);
  if (decision.kind == "text") return decode_text(a) == decode_text(b) ? "" : "another text";
  if (decision.kind == "classes") return row_maxima(a) == row_maxima(b) ? "" : "another class";
  if (decision.kind == "classes_of_best") return best_of_all(a) == best_of_all(b) ? "" : "another object";
  throw std::runtime_error("models.json: no decision " + decision.kind);
}

}  // namespace vellum::test
