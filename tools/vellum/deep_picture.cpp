#include "deep_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace vellum::cli {
namespace {

using Rgba = std::array<double, 4>;

// The pixels that one of the network's covers along an axis, with their weights: by coverage where the
// picture is reduced, the two nearest where it is enlarged. None beside the picture, where the frame's fill
// is seen.
struct Covered {
  std::vector<std::size_t> pixels;
  std::vector<double> weights;
};

constexpr double kMostAveraged = 64;  // FrameFilter::area

std::vector<Covered> covered_along(double step, double offset, int size, std::int64_t count, bool has_fill) {
  const double reduced = std::min(std::abs(step), kMostAveraged), extent = reduced < 1 ? 0 : reduced;
  std::vector<Covered> axis(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < axis.size(); ++i) {
    const double centre = step * (static_cast<double>(i) + 0.5) + offset;
    if (has_fill && (centre < 0 || centre > size)) continue;
    const double begin = extent > 0 ? centre - extent / 2 : centre - 0.5,
                 end = extent > 0 ? centre + extent / 2 : centre + 0.5;
    for (double pixel = std::floor(begin); pixel < end; ++pixel) {
      axis[i].pixels.push_back(static_cast<std::size_t>(std::clamp(pixel, 0.0, size - 1.0)));
      axis[i].weights.push_back((std::min(pixel + 1, end) - std::max(pixel, begin)) / (end - begin));
    }
  }
  return axis;
}

Rgba filtered(const io::Picture& picture, const Covered& column, const Covered& row) {
  Rgba sum{};
  for (std::size_t j = 0; j < row.pixels.size(); ++j)
    for (std::size_t i = 0; i < column.pixels.size(); ++i) {
      const std::uint16_t* pixel =
          &picture.words[4 * (row.pixels[j] * static_cast<std::size_t>(picture.width) + column.pixels[i])];
      for (std::size_t c = 0; c < 4; ++c) sum[c] += row.weights[j] * column.weights[i] * pixel[c] / 257;
    }
  return sum;
}

double channel(const Rgba& pixel, std::size_t c, std::size_t channels, bool bgr) {
  if (channels == 1) return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
  return bgr && c < 3 ? pixel[2 - c] : pixel[c];
}

}  // namespace

Tensor deep_picture(const io::Picture& picture, const FrameInput& frame, bool channels_first) {
  const Shape& shape = frame.network_shape;
  const std::int64_t height = shape.at(channels_first ? 2 : 1), width = shape.at(channels_first ? 3 : 2);
  const auto channels = static_cast<std::size_t>(shape.at(channels_first ? 1 : 3));
  const std::array<double, 6> matrix = frame.transform.value().matrix();
  const bool has_fill = frame.fill.has_value();
  const std::vector<Covered> columns = covered_along(matrix[0], matrix[2], picture.width, width, has_fill),
                             rows = covered_along(matrix[4], matrix[5], picture.height, height, has_fill);
  Rgba fill{0, 0, 0, 255};
  if (has_fill) std::ranges::copy(*frame.fill, fill.begin());

  std::vector<float> values(channels * rows.size() * columns.size());
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < columns.size(); ++x) {
      const bool beside = rows[y].pixels.empty() || columns[x].pixels.empty();
      const Rgba pixel = beside ? fill : filtered(picture, columns[x], rows[y]);
      for (std::size_t c = 0; c < channels; ++c) {
        const std::size_t at = channels_first ? (c * rows.size() + y) * columns.size() + x
                                              : (y * columns.size() + x) * channels + c;
        values[at] =
            static_cast<float>((channel(pixel, c, channels, frame.bgr) - frame.mean[c]) * frame.scale[c]);
      }
    }
  return Tensor::f32(shape, values);
}

}  // namespace vellum::cli
