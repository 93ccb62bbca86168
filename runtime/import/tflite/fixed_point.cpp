#include "import/tflite/fixed_point.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/elementwise/quantize.hpp"

namespace vellum::tflite {
namespace {

// The scales of input or output tensors, for each of `channels`.
std::vector<float> scales_of(const Call& call, int32_t tensor, size_t channels) {
  std::vector<float> scales = call.writer.scales_of(tensor);
  if (scales.size() == 1) scales.assign(channels, scales[0]);
  return scales;
}

// Returns whether x and the result have 16 bits, and not 8. Returns nothing for other layers.
std::optional<bool> has_integers_of_16_bits(const Call& call, size_t x_index, size_t bias_index) {
  const Writer& writer = call.writer;
  const int32_t x = call.input(x_index), weights = call.input(1), y = call.output(0);
  for (const int32_t tensor : {x, weights, y})
    if (!writer.quantised(tensor)) return std::nullopt;
  const DType of_x = writer.stored_type(x), of_weights = writer.stored_type(weights),
              of_y = writer.stored_type(y);
  if (is_byte(of_x) && is_byte(of_weights) && is_byte(of_y)) return false;
  if (of_x != DType::i16 || of_weights != DType::i8 || of_y != DType::i16) return std::nullopt;
  const bool has_long_bias =
      !call.has_input(bias_index) || writer.stored_type(call.input(bias_index)) == DType::i64;
  return has_long_bias ? std::optional(true) : std::nullopt;
}

}  // namespace

std::shared_ptr<FixedPoint> read_fixed_point(const Call& call, int64_t channels, bool multiplies_floats,
                                             size_t x_index, size_t bias_index) {
  const Writer& writer = call.writer;
  const std::optional<bool> has_16_bits = has_integers_of_16_bits(call, x_index, bias_index);
  if (!has_16_bits) return nullptr;
  const auto count = static_cast<size_t>(channels);
  auto fixed = std::make_shared<FixedPoint>();
  fixed->has_16_bits = *has_16_bits;
  fixed->x_scale = writer.scales_of(call.input(x_index))[0];
  fixed->y_scale = writer.scales_of(call.output(0))[0];
  fixed->w_scale = scales_of(call, call.input(1), count);
  if (fixed->w_scale.size() != count) return nullptr;
  for (const float w : fixed->w_scale) {
    const double product = multiplies_floats ? static_cast<double>(fixed->x_scale * w)
                                             : static_cast<double>(fixed->x_scale) * static_cast<double>(w);
    const double multiplier = product / static_cast<double>(fixed->y_scale);
    if (!std::isfinite(multiplier)) return nullptr;
    fixed->multipliers.push_back(fixed_multiplier(multiplier));
  }
  fixed->bias.assign(count, 0);
  const HostTensor* weights = writer.constant(call.input(1));
  if (weights == nullptr) return nullptr;
  const int64_t products = weights->elements() / std::max<int64_t>(channels, 1);
  const auto fits = [&] {
    return (fixed->has_16_bits ? fixed->fits_int64(products) : fixed->fits_int32(products)) ? fixed : nullptr;
  };
  if (!call.has_input(bias_index)) return fits();
  const HostTensor* bias = writer.integer_bias(call.input(bias_index));
  if (bias == nullptr || bias->elements() != channels) return nullptr;
  const std::vector<int64_t> integers = bias->to_ints();
  for (size_t m = 0; m < count; ++m) {
    // All sums give 0. Channels whose weights are nearly zero have such a multiplier, and a saturated bias.
    if (fixed->multipliers[m].multiplier != 0) fixed->bias[m] = integers[m];
  }
  return fits();
}

std::optional<float> short_multiplier_ratio(double exact) {
  const FixedMultiplier multiplier = short_multiplier(fixed_multiplier(exact));
  const auto ratio = static_cast<float>(
      std::ldexp(static_cast<double>(multiplier.multiplier), multiplier.shift - 31) / exact);
  return ratio > 0.5f && ratio < 2.0f ? std::optional(ratio) : std::nullopt;
}

std::vector<float> short_multiplier_ratios(const Call& call, const FixedPoint* fixed, int64_t channels,
                                           size_t x_index, size_t bias_index) {
  const Writer& writer = call.writer;
  const int32_t x = call.input(x_index), weights = call.input(1), y = call.output(0);
  if (fixed != nullptr || has_integers_of_16_bits(call, x_index, bias_index) != true) return {};
  if (call.has_input(bias_index) && !writer.quantised(call.input(bias_index))) return {};
  const std::vector<float> scales = scales_of(call, weights, static_cast<size_t>(channels));
  std::vector<float> ratios;
  for (const float w : scales) {
    const auto ratio =
        short_multiplier_ratio(static_cast<double>(writer.scales_of(x)[0]) * static_cast<double>(w) /
                               static_cast<double>(writer.scales_of(y)[0]));
    if (!ratio) return {};
    ratios.push_back(*ratio);
  }
  return ratios.size() == static_cast<size_t>(channels) ? ratios : std::vector<float>{};
}

}  // namespace vellum::tflite
