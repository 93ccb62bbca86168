#include "graph/operators/conv/fixed_point.hpp"

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "graph/operator_support.hpp"

namespace vellum {

int32_t FixedPoint::result(int32_t sum, size_t channel) const {
  const FixedMultiplier& by = multipliers[channel];
  const int32_t with_bias = sum + bias[channel];
  if (!rounds_once) return multiply(with_bias, by);
  const int bits = 31 - by.shift;
  return static_cast<int32_t>((int64_t{with_bias} * by.multiplier + (int64_t{1} << (bits - 1))) >> bits);
}

bool FixedPoint::fits(const Activation& activation, bool has_residual) const {
  if (activation.rounds_sum()) return activation.sum_step == y_scale;
  return !has_residual && activation.bounds_steps_of(y_scale);
}

bool FixedPoint::fits_int32(int64_t products) const {
  constexpr double kMostProduct = 255.0 * 255.0;
  constexpr int32_t kMostShift = 30;
  for (size_t m = 0; m < bias.size(); ++m) {
    const double most = kMostProduct * static_cast<double>(products) + std::abs(static_cast<double>(bias[m]));
    const int32_t shift = multipliers[m].shift;
    if (std::abs(shift) > kMostShift || std::ldexp(most, shift > 0 ? shift : 0) >= 0x1p31) return false;
  }
  return true;
}

FixedPoint FixedPoint::of_channels(size_t first, size_t count) const {
  const auto part = [&](const auto& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return std::decay_t<decltype(list)>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  return {x_scale, y_scale, part(w_scale), part(bias), part(multipliers), rounds_once};
}

namespace {

// Returns values / scale, rounded. `inner`: the number of consecutive elements with the same scale.
HostTensor rounded_quotients(const HostTensor& values, const std::vector<float>& scale, size_t inner) {
  std::vector<float> integers = values.to_floats();
  for (size_t i = 0; i < integers.size(); ++i)
    integers[i] = std::nearbyint(integers[i] / scale[i / inner % scale.size()]);
  return HostTensor::f32(values.shape(), integers);
}

}  // namespace

HostTensor in_integers(const HostTensor& values, const std::vector<float>& scale) {
  return rounded_quotients(values, scale, static_cast<size_t>(values.elements()) / scale.size());
}

HostTensor transposed_in_integers(const HostTensor& weights, const std::vector<float>& scale) {
  const Shape& shape = weights.shape();
  return rounded_quotients(weights, scale, static_cast<size_t>(product(shape, 2, shape.size())));
}

}  // namespace vellum
