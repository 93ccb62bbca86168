#include "graph/operators/conv/fixed_point.hpp"

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace vellum {

FixedMultiplier fixed_multiplier(double x) {
  int shift = 0;
  const double fraction = std::frexp(x, &shift);
  auto multiplier = static_cast<int64_t>(std::round(fraction * 0x1p31));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (x == 0.0 || shift < -31) return {};
  return {static_cast<int32_t>(multiplier), shift};
}

int32_t multiply(int32_t sum, const FixedMultiplier& x) {
  const int left = x.shift > 0 ? x.shift : 0, right = x.shift > 0 ? 0 : -x.shift;
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(sum) << left);
  const int64_t product = int64_t{shifted} * x.multiplier;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const auto high = static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
  const auto mask = static_cast<int32_t>((int64_t{1} << right) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + ((high & mask) > threshold ? 1 : 0);
}

bool FixedPoint::fits(const Activation& activation, bool has_residual) const {
  if (activation.rounds_sum()) return activation.sum_step == y_scale;
  const bool bounds = activation.kind == ActivationKind::none || activation.kind == ActivationKind::relu ||
                      activation.kind == ActivationKind::clip;
  return !has_residual && bounds && activation.is_rounded() && activation.step == y_scale;
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
  return {x_scale, y_scale, part(w_scale), part(bias), part(multipliers)};
}

HostTensor in_integers(const HostTensor& values, const std::vector<float>& scale) {
  std::vector<float> integers = values.to_floats();
  const size_t each = integers.size() / scale.size();
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = std::nearbyint(integers[i] / scale[i / each]);
  return HostTensor::f32(values.shape(), integers);
}

}  // namespace vellum
