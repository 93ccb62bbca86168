#include "graph/operators/conv/fixed_point.hpp"

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "graph/operator_support.hpp"

namespace vellum {

namespace {

// Returns sum * by.multiplier * 2^(by.shift - 31), rounded once, ties up. The sum has at most 48 bits, and
// the shift is from -31 to 14.
int32_t multiply_once(int64_t sum, const FixedMultiplier& by) {
  const int bits = 31 - by.shift;
  const int64_t high = (sum >> 32) * by.multiplier;
  const uint64_t low = (static_cast<uint64_t>(sum) & 0xffffffffu) * static_cast<uint64_t>(by.multiplier) +
                       (uint64_t{1} << (bits - 1));
  return static_cast<int32_t>(bits < 32 ? (high << (32 - bits)) + static_cast<int64_t>(low >> bits)
                                        : (high + static_cast<int64_t>(low >> 32)) >> (bits - 32));
}

}  // namespace

int32_t FixedPoint::result(int64_t sum, size_t channel) const {
  const int64_t with_bias = sum + bias[channel];
  if (rounds_once || has_16_bits) return multiply_once(with_bias, multipliers[channel]);
  return multiply(static_cast<int32_t>(with_bias), multipliers[channel]);
}

FixedMultiplier short_multiplier(FixedMultiplier multiplier) {
  constexpr int kBits = 16;  // that are not used
  constexpr int32_t kHalf = 1 << (kBits - 1), kMost = 0x7fff;
  const int32_t upper =
      multiplier.multiplier < kMost << kBits ? (multiplier.multiplier + kHalf) >> kBits : kMost;
  return {upper << kBits, multiplier.shift};
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

bool FixedPoint::fits_int64(int64_t products) const {
  constexpr double kMostProduct = 0x1p22, kMostSum = 0x1p39, kMostBias = 0x1p46;
  constexpr int32_t kLeastShift = -31, kMostShift = 14;
  // Kernels multiply by the inverse of the scale.
  if (!std::isnormal(x_scale) || !std::isnormal(1.0f / x_scale)) return false;
  if (kMostProduct * static_cast<double>(products) >= kMostSum) return false;
  for (size_t m = 0; m < bias.size(); ++m) {
    const int32_t shift = multipliers[m].shift;
    if (std::abs(static_cast<double>(bias[m])) > kMostBias || shift < kLeastShift || shift > kMostShift)
      return false;
  }
  return true;
}

FixedPoint FixedPoint::of_channels(size_t first, size_t count) const {
  const auto part = [&](const auto& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return std::decay_t<decltype(list)>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  return {x_scale, y_scale, part(w_scale), part(bias), part(multipliers), rounds_once, has_16_bits};
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
