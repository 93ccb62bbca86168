#include "common/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

struct Tap {
  int source;
  double weight;
};

// For each position of the result along one axis, the source positions that it mixes.
std::vector<std::vector<Tap>> taps_of_axis(int source_size, int size) {
  const double scale = static_cast<double>(source_size) / size;
  std::vector<std::vector<Tap>> axis(static_cast<std::size_t>(size));
  for (int position = 0; position < size; ++position) {
    std::vector<Tap>& taps = axis[static_cast<std::size_t>(position)];
    if (scale >= 1) {
      const double begin = position * scale;
      const double end = std::min<double>(begin + scale, source_size);
      for (int source = static_cast<int>(begin); source < end; ++source) {
        const double covered = std::min<double>(end, source + 1) - std::max<double>(begin, source);
        taps.push_back({source, covered / scale});
      }
    } else {
      const double centre = (position + 0.5) * scale - 0.5;
      const int lower = static_cast<int>(std::floor(centre));
      const double fraction = centre - lower;
      taps.push_back({std::clamp(lower, 0, source_size - 1), 1 - fraction});
      taps.push_back({std::clamp(lower + 1, 0, source_size - 1), fraction});
    }
  }
  return axis;
}

}  // namespace

std::vector<float> resize(const io::Image& image, int width, int height) {
  if (width < 1 || height < 1 || image.width < 1 || image.height < 1) {
    throw Error(ErrorCode::invalid_argument, "cannot resize " + std::to_string(image.width) + "x" +
                                                 std::to_string(image.height) + " pixels to " +
                                                 std::to_string(width) + "x" + std::to_string(height));
  }
  const auto columns = taps_of_axis(image.width, width);
  const auto rows = taps_of_axis(image.height, height);

  // First along the rows of the source, then across them.
  std::vector<double> narrowed(std::size_t{3} * width * image.height);
  double* target = narrowed.data();
  for (int y = 0; y < image.height; ++y) {
    for (const std::vector<Tap>& taps : columns) {
      for (int channel = 0; channel < 3; ++channel) {
        for (const Tap& tap : taps) *target += tap.weight * image.pixel(tap.source, y)[channel];
        ++target;
      }
    }
  }

  const std::size_t row_length = std::size_t{3} * width;
  std::vector<float> result(row_length * height);
  std::vector<double> sums(row_length);
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Tap& tap : rows[static_cast<std::size_t>(y)]) {
      const double* source = narrowed.data() + tap.source * row_length;
      for (std::size_t i = 0; i < row_length; ++i) sums[i] += tap.weight * source[i];
    }
    std::transform(sums.begin(), sums.end(), result.begin() + static_cast<std::ptrdiff_t>(y * row_length),
                   [](double sum) { return static_cast<float>(sum); });
  }
  return result;
}

}  // namespace vellum::samples
