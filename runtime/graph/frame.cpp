// The values of vellum/frame.hpp: sizes of frames, and the transforms between frame and network.
#include "vellum/frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "graph/operators/movement/frame.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr uint32_t kMostPixels = 16384;  // along an axis

[[noreturn]] void refuse_frame(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

std::string size_text(double width, double height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

void require_size(const char* what, FrameSize size) {
  if (!(size.width > 0 && size.height > 0 && std::isfinite(size.width) && std::isfinite(size.height)))
    refuse_frame(std::string(what) + " of " + size_text(size.width, size.height) + " pixels has no area");
}

void require_finite(FramePoint point) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y))
    refuse_frame("a point at " + std::to_string(point.x) + ", " + std::to_string(point.y) + " is nowhere");
}

FramePoint apply(const std::array<double, 6>& m, FramePoint p) {
  return {m[0] * p.x + m[1] * p.y + m[2], m[3] * p.x + m[4] * p.y + m[5]};
}

void set_interleaved(FramePlanes& planes, int64_t pixel, std::array<int64_t, 3> rgb) {
  planes.pixel = pixel;
  planes.rgb = rgb;
}

void set_chroma(FramePlanes& planes, FrameFormat format, int64_t height) {
  const int64_t rows = (height + 1) / 2;
  planes.has_chroma = true;
  planes.pixel = 1;
  const int64_t begin = planes.row * height;
  if (format == FrameFormat::i420) {
    planes.chroma_step = 1;
    planes.chroma_row = (planes.row + 1) / 2;
    planes.u = begin;
    planes.v = begin + planes.chroma_row * rows;
    planes.bytes = planes.v + planes.chroma_row * rows;
    return;
  }
  planes.chroma_step = 2;
  planes.chroma_row = (planes.row + 1) / 2 * 2;
  planes.u = begin + (format == FrameFormat::nv21);
  planes.v = begin + (format == FrameFormat::nv12);
  planes.bytes = begin + planes.chroma_row * rows;
}

}  // namespace

std::string_view name(FrameFormat format) {
  constexpr std::string_view names[] = {"rgba8", "bgra8", "rgb8", "grey8", "nv12", "nv21", "i420"};
  return names[static_cast<size_t>(format)];
}

FramePlanes planes_of(const FrameInput& frame) {
  if (frame.width < 1 || frame.height < 1 || frame.width > kMostPixels || frame.height > kMostPixels)
    refuse_frame("a frame of " + std::to_string(frame.width) + " x " + std::to_string(frame.height) +
                 " pixels: width and height must be in 1.." + std::to_string(kMostPixels));
  FramePlanes planes;
  const bool four = frame.format == FrameFormat::rgba8 || frame.format == FrameFormat::bgra8;
  const int64_t least = int64_t{frame.width} * (four ? 4 : frame.format == FrameFormat::rgb8 ? 3 : 1);
  planes.row = frame.row_bytes ? frame.row_bytes : least;
  if (planes.row < least || planes.row > 8 * int64_t{kMostPixels})
    refuse_frame("rows of " + std::to_string(planes.row) + " bytes: a row of " + std::to_string(frame.width) +
                 " pixels in " + std::string(name(frame.format)) + " takes " + std::to_string(least) +
                 ", and at most " + std::to_string(8 * kMostPixels) + " are supported");
  planes.bytes = planes.row * frame.height;
  switch (frame.format) {
    case FrameFormat::rgba8:
      set_interleaved(planes, 4, {0, 1, 2});
      break;
    case FrameFormat::bgra8:
      set_interleaved(planes, 4, {2, 1, 0});
      break;
    case FrameFormat::rgb8:
      set_interleaved(planes, 3, {0, 1, 2});
      break;
    case FrameFormat::grey8:
      set_interleaved(planes, 1, {0, 0, 0});
      break;
    case FrameFormat::nv12:
    case FrameFormat::nv21:
    case FrameFormat::i420:
      set_chroma(planes, frame.format, frame.height);
      break;
  }
  if (planes.bytes > std::numeric_limits<int32_t>::max())
    refuse_frame("a frame of " + std::to_string(planes.bytes) + " bytes: 2 GiB and more are not supported");
  return planes;
}

uint64_t FrameInput::bytes() const { return static_cast<uint64_t>(planes_of(*this).bytes); }

FrameTransform FrameTransform::region(FramePoint corner, FramePoint right, FramePoint down,
                                      FrameSize network) {
  require_size("a network's input", network);
  for (const FramePoint point : {corner, right, down}) require_finite(point);
  const double ax = (right.x - corner.x) / network.width, ay = (right.y - corner.y) / network.width;
  const double bx = (down.x - corner.x) / network.height, by = (down.y - corner.y) / network.height;
  const double area = ax * by - ay * bx;
  if (!(std::abs(area) > 0 && std::isfinite(area)))
    refuse_frame("a part of the frame has no area: its corners are on one line");
  return {{ax, bx, corner.x, ay, by, corner.y}, network};
}

FrameTransform FrameTransform::crop(FramePoint top_left, FrameSize size, FrameSize network) {
  require_size("a part of the frame", size);
  return region(top_left, {top_left.x + size.width, top_left.y}, {top_left.x, top_left.y + size.height},
                network);
}

FrameTransform FrameTransform::stretch(FrameSize frame, FrameSize network) {
  return crop({0, 0}, frame, network);
}

FrameTransform FrameTransform::letterbox(FrameSize frame, FrameSize network) {
  require_size("a frame", frame);
  require_size("a network's input", network);
  const double scale = std::min(network.width / frame.width, network.height / frame.height);
  const auto covered = [&](double size, double most) {
    return std::clamp(std::round(size * scale), 1.0, std::max(1.0, most));
  };
  const double width = covered(frame.width, network.width), height = covered(frame.height, network.height);
  const double left = std::floor((network.width - width) / 2),
               top = std::floor((network.height - height) / 2);
  const FrameSize pixel{frame.width / width, frame.height / height};
  return crop({-left * pixel.width, -top * pixel.height},
              {network.width * pixel.width, network.height * pixel.height}, network);
}

FrameTransform FrameTransform::center_crop(FrameSize frame, FrameSize network) {
  require_size("a frame", frame);
  require_size("a network's input", network);
  const double scale = std::max(network.width / frame.width, network.height / frame.height);
  const FrameSize part{network.width / scale, network.height / scale};
  return crop({(frame.width - part.width) / 2, (frame.height - part.height) / 2}, part, network);
}

FrameTransform FrameTransform::rotated(FramePoint center, FrameSize size, double angle, FrameSize network) {
  require_size("a part of the frame", size);
  require_finite(center);
  if (!std::isfinite(angle)) refuse_frame("an angle of " + std::to_string(angle) + " radians");
  // A rotation by a quarter turn keeps the axes, so that averages are weighted by coverage.
  const auto exact = [](double value) { return std::abs(value) < 1e-12 ? 0.0 : value; };
  const double c = exact(std::cos(angle)), s = exact(std::sin(angle));
  const auto corner = [&](double x, double y) {
    return FramePoint{center.x + x * size.width / 2 * c - y * size.height / 2 * s,
                      center.y + x * size.width / 2 * s + y * size.height / 2 * c};
  };
  return region(corner(-1, -1), corner(1, -1), corner(-1, 1), network);
}

FrameTransform FrameTransform::flipped_horizontally() const {
  const auto& m = matrix_;
  return {{-m[0], m[1], m[2] + m[0] * network_.width, -m[3], m[4], m[5] + m[3] * network_.width}, network_};
}

FrameTransform FrameTransform::flipped_vertically() const {
  const auto& m = matrix_;
  return {{m[0], -m[1], m[2] + m[1] * network_.height, m[3], -m[4], m[5] + m[4] * network_.height}, network_};
}

FramePoint FrameTransform::to_frame(FramePoint in_network) const { return apply(matrix_, in_network); }

FramePoint FrameTransform::to_network(FramePoint in_frame) const {
  const auto& m = matrix_;
  const double area = m[0] * m[4] - m[1] * m[3], x = in_frame.x - m[2], y = in_frame.y - m[5];
  return {(m[4] * x - m[1] * y) / area, (m[0] * y - m[3] * x) / area};
}

std::array<float, 6> FrameTransform::values() const {
  std::array<float, 6> result;
  std::ranges::transform(matrix_, result.begin(), [](double value) { return static_cast<float>(value); });
  return result;
}

Tensor FrameTransform::tensor() const { return Tensor::f32({2, 3}, values()); }

}  // namespace vellum
