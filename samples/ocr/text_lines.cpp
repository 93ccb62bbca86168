#include "ocr/text_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "io/photo.hpp"
#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
float cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
float dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
float distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

struct Core {
  double sum = 0;
  std::vector<Point> pixels;
};

// Eight-connected pixels from the threshold up; `seen` has one entry a pixel.
Core collect(std::span<const float> map, int width, int height, std::size_t start, float threshold,
             std::vector<char>& seen) {
  Core core;
  std::vector<std::size_t> open{start};
  seen[start] = 1;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    const int x = static_cast<int>(at % static_cast<std::size_t>(width));
    const int y = static_cast<int>(at / static_cast<std::size_t>(width));
    core.sum += map[at];
    core.pixels.push_back({static_cast<float>(x), static_cast<float>(y)});
    for (int v = std::max(y - 1, 0); v <= std::min(y + 1, height - 1); ++v) {
      for (int u = std::max(x - 1, 0); u <= std::min(x + 1, width - 1); ++u) {
        const std::size_t next =
            static_cast<std::size_t>(v) * static_cast<std::size_t>(width) + static_cast<std::size_t>(u);
        if (seen[next] || !(map[next] >= threshold)) continue;
        seen[next] = 1;
        open.push_back(next);
      }
    }
  }
  return core;
}

// Andrew's monotone chain, counter-clockwise without the last point again. At least one point.
std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [](Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  std::vector<Point> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t base = hull.size();
    for (const Point point : points) {
      while (hull.size() >= base + 2 && cross(hull.back() - hull[hull.size() - 2], point - hull.back()) <= 0)
        hull.pop_back();
      hull.push_back(point);
    }
    if (hull.size() > 1) hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// A rectangle along `axis` (of length 1): from..to along it, and across it.
struct Rectangle {
  Point axis{1, 0};
  float from = 0, to = 0, low = 0, high = 0;

  float area() const { return (to - from) * (high - low); }
  Point at(float along, float across) const {
    return {along * axis.x - across * axis.y, along * axis.y + across * axis.x};
  }
};

Rectangle rectangle_along(const std::vector<Point>& hull, Point axis) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Rectangle box{axis, infinity, -infinity, infinity, -infinity};
  for (const Point point : hull) {
    const float along = dot(point, axis), across = cross(axis, point);
    box.from = std::min(box.from, along);
    box.to = std::max(box.to, along);
    box.low = std::min(box.low, across);
    box.high = std::max(box.high, across);
  }
  return box;
}

// One side of the least rectangle around a convex polygon is along a side of the polygon (Freeman and
// Shapira 1975).
Rectangle least_rectangle(const std::vector<Point>& hull) {
  Rectangle best = rectangle_along(hull, {1, 0});
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point side = hull[(i + 1) % hull.size()] - hull[i];
    const float length = std::hypot(side.x, side.y);
    if (length < 1e-6f) continue;
    const Rectangle box = rectangle_along(hull, {side.x / length, side.y / length});
    if (box.area() < best.area()) best = box;
  }
  return best;
}

// Turned so that the text runs along the longer side and from left to right (upright columns of text: from
// top to bottom).
std::array<Point, 4> reading_corners(Rectangle box) {
  std::array<Point, 4> corners{box.at(box.from, box.low), box.at(box.to, box.low), box.at(box.to, box.high),
                               box.at(box.from, box.high)};
  if (box.high - box.low > box.to - box.from)
    std::rotate(corners.begin(), corners.begin() + 1, corners.end());
  const Point along = corners[1] - corners[0];
  const bool backwards = std::abs(along.x) >= std::abs(along.y) ? along.x < 0 : along.y < 0;
  if (backwards) std::rotate(corners.begin(), corners.begin() + 2, corners.end());
  return corners;
}

TextLine line_around(const Core& core, float grow) {
  Rectangle box = least_rectangle(convex_hull(core.pixels));
  // Pixels have an extent of their own: half of one beyond each outermost centre.
  const float width = box.to - box.from + 1, height = box.high - box.low + 1;
  const float margin = grow * width * height / (2 * (width + height));
  box.from -= margin;
  box.to += margin;
  box.low -= margin;
  box.high += margin;
  TextLine line{static_cast<float>(core.sum / static_cast<double>(core.pixels.size())), reading_corners(box)};
  for (Point& corner : line.corners) corner = {corner.x + 0.5f, corner.y + 0.5f};
  return line;
}

Point middle(const TextLine& line) {
  return {(line.corners[0].x + line.corners[2].x) / 2, (line.corners[0].y + line.corners[2].y) / 2};
}

// Rows first: a line belongs to the row whose first line's middle is within half a height of its own.
void sort_for_reading(std::vector<TextLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const TextLine& a, const TextLine& b) { return middle(a).y < middle(b).y; });
  for (auto row = lines.begin(); row != lines.end();) {
    const float limit = middle(*row).y + row->height() / 2;
    const auto end = std::find_if(row, lines.end(), [&](const TextLine& l) { return middle(l).y > limit; });
    std::stable_sort(row, end,
                     [](const TextLine& a, const TextLine& b) { return middle(a).x < middle(b).x; });
    row = end;
  }
}

// The detector needs multiples of 32.
int network_size(uint32_t size, float scale) {
  return std::max(32, static_cast<int>(std::lround(static_cast<float>(size) * scale / 32)) * 32);
}

}  // namespace

FrameInput text_frame(FrameInput frame, int side) {
  constexpr std::array<float, 3> mean{0.485f, 0.456f, 0.406f}, deviation{0.229f, 0.224f, 0.225f};
  frame.bgr = true;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    frame.mean[channel] = 255 * mean[channel];
    frame.scale[channel] = 1 / (255 * deviation[channel]);
  }
  const float scale =
      std::min(1.0f, static_cast<float>(side) / static_cast<float>(std::max(frame.width, frame.height)));
  const int width = network_size(frame.width, scale), height = network_size(frame.height, scale);
  frame.transform = FrameTransform::stretch(io::size_of(frame), {1.0 * width, 1.0 * height});
  frame.network_shape = {1, 3, height, width};
  return frame;
}

float TextLine::width() const { return distance(corners[0], corners[1]); }
float TextLine::height() const { return distance(corners[0], corners[3]); }

std::vector<TextLine> find_text_lines(std::span<const float> probabilities, int width, int height,
                                      const TextThresholds& thresholds) {
  if (width < 1 || height < 1 ||
      probabilities.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    throw Error(ErrorCode::invalid_argument,
                "the text detector's map does not have the size of its input; is this another model?");
  }
  std::vector<char> seen(probabilities.size());
  std::vector<TextLine> lines;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (seen[i] || !(probabilities[i] >= thresholds.pixel)) continue;
    const Core core = collect(probabilities, width, height, i, thresholds.pixel, seen);
    if (core.pixels.size() < 9) continue;  // smaller than any letter's core
    const TextLine line = line_around(core, thresholds.grow);
    if (line.score >= thresholds.line) lines.push_back(line);
  }
  sort_for_reading(lines);
  return lines;
}

}  // namespace vellum::samples
