#include "graph/operators/movement/resize_integers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/operators/elementwise/fixed_multiplier.hpp"

namespace vellum {
namespace {

constexpr int64_t kOne = 1 << 10;  // of weights in fixed point

ResizeTaps between(int64_t lower, int64_t upper, float weight) {
  return {{{lower, 1.0f - weight}, {upper, weight}}};
}

// ComputeInterpolationValuesInteger() in resize_bilinear.h.
std::vector<ResizeTaps> fixed_taps(CoordinateMode mode, int64_t in, int64_t out) {
  const bool aligned = mode == CoordinateMode::align_corners && out > 1;
  const int64_t intervals = aligned ? in - 1 : in, parts = aligned ? out - 1 : out;
  const int64_t scale = (kOne * intervals + parts / 2) / parts;
  const int64_t first = mode == CoordinateMode::half_pixel ? scale / 2 - kOne / 2 : 0;
  std::vector<ResizeTaps> taps;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t x = first + i * scale;
    const int64_t lower = std::clamp<int64_t>(x / kOne, 0, in - 1);
    const int64_t upper = std::clamp<int64_t>((x + kOne - 1) / kOne, 0, in - 1);
    taps.push_back(between(lower, upper, static_cast<float>(x - kOne * lower) / static_cast<float>(kOne)));
  }
  return taps;
}

// ComputeInterpolationValues() there.
std::vector<ResizeTaps> float_taps(CoordinateMode mode, int64_t in, int64_t out) {
  const bool aligned = mode == CoordinateMode::align_corners && out > 1;
  const float scale = static_cast<float>(aligned ? in - 1 : in) / static_cast<float>(aligned ? out - 1 : out);
  std::vector<ResizeTaps> taps;
  for (int64_t i = 0; i < out; ++i) {
    float x = static_cast<float>(i) * scale;
    if (mode == CoordinateMode::half_pixel) {
      const float centre = (static_cast<float>(i) + 0.5f) * scale;
      x = centre - 0.5f;
    }
    const int64_t lower = std::clamp<int64_t>(static_cast<int64_t>(std::floor(x)), 0, in - 1);
    const int64_t upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(x)), 0, in - 1);
    taps.push_back(between(lower, upper, x - static_cast<float>(lower)));
  }
  return taps;
}

int64_t sum_of_integers(const std::array<int32_t, 4>& x, const ResizeTaps& row, const ResizeTaps& column) {
  int64_t sum = 0;
  for (size_t j = 0; j < 2; ++j)
    for (size_t i = 0; i < 2; ++i)
      sum += x[2 * j + i] * static_cast<int64_t>(row.taps[j].weight * static_cast<float>(kOne)) *
             static_cast<int64_t>(column.taps[i].weight * static_cast<float>(kOne));
  constexpr int64_t kHalf = kOne * kOne / 2;
  return (sum + (sum > 0 ? kHalf : -kHalf)) / (kOne * kOne);
}

// In LiteRT's order: along columns, rows later.
int64_t sum_of_floats(const std::array<int32_t, 4>& x, const ResizeTaps& row, const ResizeTaps& column) {
  float sum = 0.0f;
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) {
      const float in_rows = static_cast<float>(x[2 * j + i]) * row.taps[j].weight;
      const float product = in_rows * column.taps[i].weight;
      sum += product;
    }
  return static_cast<int64_t>(sum + 0.5f);
}

}  // namespace

std::vector<ResizeTaps> integer_taps(CoordinateMode mode, bool in_floats, int64_t in, int64_t out) {
  return in_floats ? float_taps(mode, in, out) : fixed_taps(mode, in, out);
}

HostTensor interpolate_integers(const FixedResize& fixed, const std::vector<ResizeTaps>& rows,
                                const std::vector<ResizeTaps>& columns, const HostTensor& x) {
  const std::vector<float> in = x.to_floats();
  const int64_t planes = x.shape()[0] * x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  std::vector<float> y;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (const ResizeTaps& row : rows)
      for (const ResizeTaps& column : columns) {
        std::array<int32_t, 4> integers{};
        for (size_t k = 0; k < 4; ++k) {
          const int64_t at = (plane * height + row.taps[k / 2].index) * width + column.taps[k % 2].index;
          integers[k] = integer_of(in[static_cast<size_t>(at)], fixed.step) + fixed.zero;
        }
        const int64_t sum = (fixed.in_floats ? sum_of_floats : sum_of_integers)(integers, row, column);
        y.push_back(static_cast<float>(sum - fixed.zero) * fixed.step);
      }
  const Shape shape{x.shape()[0], x.shape()[1], static_cast<int64_t>(rows.size()),
                    static_cast<int64_t>(columns.size())};
  return HostTensor::from<float>(x.dtype(), shape, y);
}

}  // namespace vellum
