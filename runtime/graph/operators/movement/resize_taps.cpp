// The input elements that each output element of Resize reads along an axis.
#include <algorithm>
#include <cmath>

#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/resize_integers.hpp"

namespace vellum {

namespace {

// A position along an axis of the input: `x` elements after element `base`.
struct Place {
  int64_t base = 0;
  float x = 0.0f;
};

// A scale of `out` : `in`.
struct Ratio {
  int64_t out = 1, in = 1;
};

std::optional<Ratio> small_ratio(float scale) {
  constexpr int64_t kLargest = 16;
  for (int64_t in = 1; in <= kLargest; ++in) {
    const float out = std::round(scale * static_cast<float>(in));
    if (out >= 1.0f && out <= static_cast<float>(kMaxElements) && out / static_cast<float>(in) == scale)
      return Ratio{static_cast<int64_t>(out), in};
  }
  return std::nullopt;
}

// The period of the weights. With a scale of 3 : 1 every third output element has the weights of the element
// three before it, one input element further. The weights are computed for the first period only: further on,
// floats would round more, and parts of a large picture would get other weights than the whole.
std::optional<Ratio> ratio_of_places(const Resize& op, const ResizeGeometry& g, size_t axis) {
  const bool repeats = op.mode != ResizeMode::nearest && op.coordinates != CoordinateMode::align_corners &&
                       op.coordinates != CoordinateMode::tf_crop_and_resize;
  return repeats ? small_ratio(g.scales[axis]) : std::nullopt;
}

ResizeTaps interpolate(const Resize& op, const ResizeGeometry& g, size_t axis, const Place& place) {
  const int64_t last = g.input[axis] - 1;
  ResizeTaps result;
  // Far outside, every tap is clamped to the border, too.
  const float near_x = std::clamp(place.x, -4.0f - static_cast<float>(place.base),
                                  static_cast<float>(last - place.base) + 4.0f);
  const float before = std::floor(near_x);
  const float t = near_x - before;
  const int64_t base = place.base + static_cast<int64_t>(before);
  float sum = 0.0f;
  const auto add = [&](int64_t index, float weight) {
    if (op.exclude_outside && (index < 0 || index > last)) return;
    result.taps.push_back({std::clamp<int64_t>(index, 0, last), weight});
    sum += weight;
  };
  if (op.mode == ResizeMode::linear) {
    add(base, 1.0f - t);
    add(base + 1, t);
  } else {
    const auto weights = cubic_weights(t, op.cubic_a);
    for (int64_t k = 0; k < 4; ++k) add(base - 1 + k, weights[static_cast<size_t>(k)]);
  }
  if (op.exclude_outside && sum != 0.0f) {
    for (ResizeTap& tap : result.taps) tap.weight /= sum;
  }
  return result;
}

// Returns the taps for a smaller output: the weights of interpolation, stretched over the input elements that
// an output element covers.
ResizeTaps average(const Resize& op, const ResizeGeometry& g, size_t axis, const Place& place) {
  const int64_t last = g.input[axis] - 1;
  const float scale = g.scales[axis], reach = (op.mode == ResizeMode::linear ? 1.0f : 2.0f) / scale;
  const float length = static_cast<float>(g.input[axis]) + reach;
  const auto first = static_cast<int64_t>(std::ceil(std::clamp(place.x - reach, -length, 2.0f * length)));
  const auto end = static_cast<int64_t>(std::floor(std::clamp(place.x + reach, -length, 2.0f * length)));
  ResizeTaps result;
  float sum = 0.0f;
  for (int64_t after = first; after <= end; ++after) {
    const int64_t index = place.base + after;
    if (op.exclude_outside && (index < 0 || index > last)) continue;
    const float distance = std::fabs(static_cast<float>(after) - place.x) * scale;
    float weight = std::max(0.0f, 1.0f - distance);
    if (op.mode == ResizeMode::cubic && distance < 2.0f) {
      const auto weights = cubic_weights(distance - std::floor(distance), op.cubic_a);
      weight = weights[distance < 1.0f ? 1 : 0];
    } else if (op.mode == ResizeMode::cubic) {
      weight = 0.0f;
    }
    result.taps.push_back({std::clamp<int64_t>(index, 0, last), weight});
    sum += weight;
  }
  if (sum == 0.0f) return interpolate(op, g, axis, place);
  for (ResizeTap& tap : result.taps) tap.weight /= sum;
  return result;
}

std::vector<ResizeTaps> strip_of(const Resize& op, std::vector<ResizeTaps> whole, size_t axis) {
  if (!op.strip || axis != ResizeStrip::kAxis) return whole;
  const auto first = whole.begin() + op.strip->first_row;
  std::vector<ResizeTaps> rows(first, first + op.strip->row_count);
  for (ResizeTaps& row : rows)
    for (ResizeTap& tap : row.taps) tap.index -= op.strip->first_input_row;
  return rows;
}

}  // namespace

bool Resize::keeps(const ResizeGeometry& g, size_t axis) const {
  return g.scales[axis] == 1.0f && g.input[axis] == g.output[axis] &&
         coordinates != CoordinateMode::tf_crop_and_resize &&
         coordinates != CoordinateMode::tf_half_pixel_for_nn;
}

std::vector<ResizeTaps> Resize::taps(const ResizeGeometry& g, size_t axis) const {
  if (fixed && axis >= 2)
    return strip_of(*this, integer_taps(coordinates, fixed.in_floats, g.input[axis], g.output[axis]), axis);
  std::vector<ResizeTaps> result;
  const std::optional<Ratio> ratio = ratio_of_places(*this, g, axis);
  for (int64_t i = 0; i < g.output[axis]; ++i) {
    if (keeps(g, axis)) {
      result.push_back({{{i, 1.0f}}});
      continue;
    }
    const Place place = ratio ? Place{i / ratio->out * ratio->in, source(g, axis, i % ratio->out)}
                              : Place{0, source(g, axis, i)};
    result.push_back(mode == ResizeMode::nearest ? ResizeTaps{{{nearest_index(g, axis, place.x), 1.0f}}}
                     : antialias && g.scales[axis] < 1.0f ? average(*this, g, axis, place)
                                                          : interpolate(*this, g, axis, place));
    result.back().outside = coordinates == CoordinateMode::tf_crop_and_resize &&
                            (place.x < 0.0f || place.x > static_cast<float>(g.input[axis] - 1));
  }
  return strip_of(*this, std::move(result), axis);
}

}  // namespace vellum
