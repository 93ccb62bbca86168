#include "support/frame_reference.hpp"

#include <algorithm>
#include <cmath>

namespace vellum::test {
namespace {

Rgb from_yuv(const FrameInput& frame, double y, double u, double v) {
  u -= 128;
  v -= 128;
  if (frame.range == ColorRange::limited) {
    y = (y - 16) * 255 / 219;
    u = u * 255 / 224;
    v = v * 255 / 224;
  }
  // The coefficients as the recommendations' tables have them.
  Rgb rgb = frame.matrix == ColorMatrix::bt709
                ? Rgb{y + 1.5748 * v, y - 0.187324 * u - 0.468124 * v, y + 1.8556 * u}
                : Rgb{y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u};
  for (double& value : rgb) value = std::clamp(value, 0.0, 255.0);
  return rgb;
}

Rgb decode(const FrameInput& frame, std::span<const uint8_t> bytes, int64_t x, int64_t y) {
  const int64_t width = frame.width, height = frame.height, half = (width + 1) / 2, rows = (height + 1) / 2;
  const auto at = [&](int64_t i) { return static_cast<double>(bytes[static_cast<size_t>(i)]); };
  const int64_t i = y * width + x, pair = width * height + y / 2 * 2 * half + x / 2 * 2,
                u = width * height + y / 2 * half + x / 2;
  switch (frame.format) {
    case FrameFormat::rgba8:
      return {at(4 * i), at(4 * i + 1), at(4 * i + 2)};
    case FrameFormat::bgra8:
      return {at(4 * i + 2), at(4 * i + 1), at(4 * i)};
    case FrameFormat::rgb8:
      return {at(3 * i), at(3 * i + 1), at(3 * i + 2)};
    case FrameFormat::grey8:
      return {at(i), at(i), at(i)};
    case FrameFormat::nv12:
      return from_yuv(frame, at(i), at(pair), at(pair + 1));
    case FrameFormat::nv21:
      return from_yuv(frame, at(i), at(pair + 1), at(pair));
    case FrameFormat::i420:
      return from_yuv(frame, at(i), at(u), at(u + half * rows));
  }
  return {};
}

Rgb mix(const Rgb& a, const Rgb& b, double t) {
  return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
}

// The pixels along an axis that an interval around `center` covers, with their weights.
std::vector<std::pair<double, double>> covered(double center, double size) {
  if (size < 1) {
    const double lower = std::floor(center - 0.5), t = center - 0.5 - lower;
    return {{lower, 1 - t}, {lower + 1, t}};
  }
  std::vector<std::pair<double, double>> result;
  for (double i = std::floor(center - size / 2); i < center + size / 2; ++i)
    result.emplace_back(i, (std::min(i + 1, center + size / 2) - std::max(i, center - size / 2)) / size);
  return result;
}

}  // namespace

FrameReference::FrameReference(const FrameInput& frame, std::span<const uint8_t> bytes) : frame_(frame) {
  for (int64_t y = 0; y < frame.height; ++y)
    for (int64_t x = 0; x < frame.width; ++x) pixels_.push_back(decode(frame, bytes, x, y));
}

Rgb FrameReference::seen(const FrameTransform& map, int64_t x, int64_t y) const {
  const auto column = static_cast<double>(x), row = static_cast<double>(y);
  const FramePoint at = map.to_frame({column + 0.5, row + 0.5});
  const bool inside = at.x >= 0 && at.y >= 0 && at.x <= frame_.width && at.y <= frame_.height;
  if (!inside && frame_.fill) return {(*frame_.fill)[0], (*frame_.fill)[1], (*frame_.fill)[2]};
  if (frame_.filter == FrameFilter::bilinear) return bilinear(at.x, at.y);
  const std::array<double, 6>& m = map.matrix();
  const bool upright = m[1] == 0 && m[3] == 0;
  return upright ? area(at.x, at.y, std::abs(m[0]), std::abs(m[4])) : mean_of_samples(map, column, row);
}

std::vector<double> FrameReference::network_input(const FrameTransform& map, int64_t width,
                                                  int64_t height) const {
  std::vector<double> values;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const Rgb color = seen(map, x, y);
      for (size_t c = 0; c < 3; ++c) values.push_back((color[c] - frame_.mean[c]) * frame_.scale[c]);
    }
  return values;
}

const Rgb& FrameReference::pixel(double x, double y) const {
  const auto column = std::clamp<int64_t>(static_cast<int64_t>(x), 0, frame_.width - 1),
             row = std::clamp<int64_t>(static_cast<int64_t>(y), 0, frame_.height - 1);
  return pixels_[static_cast<size_t>(row * frame_.width + column)];
}

Rgb FrameReference::bilinear(double x, double y) const {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5), u = x - 0.5 - left, v = y - 0.5 - top;
  return mix(mix(pixel(left, top), pixel(left + 1, top), u),
             mix(pixel(left, top + 1), pixel(left + 1, top + 1), u), v);
}

// Upright: each axis for itself.
Rgb FrameReference::area(double x, double y, double across, double down) const {
  Rgb sum{};
  for (const auto& [row, row_weight] : covered(y, down))
    for (const auto& [column, column_weight] : covered(x, across)) {
      const Rgb color = pixel(column, row);
      for (size_t c = 0; c < 3; ++c) sum[c] += row_weight * column_weight * color[c];
    }
  return sum;
}

// Rotated: bilinear samples in a pixel of the network, from (x, y) to (x + 1, y + 1) there.
Rgb FrameReference::mean_of_samples(const FrameTransform& map, double x, double y) const {
  const std::array<double, 6>& m = map.matrix();
  const double columns = std::max(std::ceil(std::hypot(m[0], m[3]) - 1e-3), 1.0),
               rows = std::max(std::ceil(std::hypot(m[1], m[4]) - 1e-3), 1.0);
  Rgb sum{};
  for (double j = 0.5; j < rows; ++j)
    for (double i = 0.5; i < columns; ++i) {
      const FramePoint at = map.to_frame({x + i / columns, y + j / rows});
      const Rgb sample = bilinear(at.x, at.y);
      for (size_t c = 0; c < 3; ++c) sum[c] += sample[c] / (columns * rows);
    }
  return sum;
}

}  // namespace vellum::test
