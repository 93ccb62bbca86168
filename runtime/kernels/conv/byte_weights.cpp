#include "kernels/conv/byte_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {
namespace {

constexpr int kMostInteger = 255;
constexpr int kMost16Bits = 0xffff;

// Returns whether all weights are integers of at most kMostInteger times the scale. Each weight is a product
// that was rounded to fp32, and the scale is a rounded quotient. Compilers turn the inner loop into vector
// instructions, which they cannot with a call or an exit in it.
bool is_scale_of(std::span<const float> weights, float scale) {
  constexpr float kRounding = 4 * 0x1p-24f;
  constexpr float kToInteger = 0x1.8p23f;  // added to a small float, it rounds it to an integer
  constexpr size_t kTogether = 64;
  const float inverse = 1.0f / scale;
  for (size_t begin = 0; begin < weights.size(); begin += kTogether) {
    int misfits = 0;
    for (const float weight : weights.subspan(begin, std::min(kTogether, weights.size() - begin))) {
      const float integer = (weight * inverse + kToInteger) - kToInteger;
      const bool fits = std::abs(integer) <= kMostInteger &&
                        std::abs(weight - integer * scale) <= kRounding * std::abs(weight);
      misfits += fits ? 0 : 1;
    }
    if (misfits > 0) return false;
  }
  return true;
}

}  // namespace

std::optional<float> find_scale(std::span<const float> weights) {
  float least = 0.0f;
  for (const float weight : weights) {
    if (!std::isfinite(weight)) return std::nullopt;
    if (weight != 0.0f && (least == 0.0f || std::abs(weight) < least)) least = std::abs(weight);
  }
  if (least == 0.0f) return 1.0f;
  for (int integer = 1; integer <= kMostInteger; ++integer) {
    const float scale = least / static_cast<float>(integer);
    if (scale >= 0x1p-100f && is_scale_of(weights, scale)) return scale;
  }
  return std::nullopt;
}

ByteWeightsPointer find_byte_weights(int64_t channels, int64_t each,
                                     const std::function<float(int64_t, int64_t)>& weight) {
  ByteWeights found;
  float low = 0.0f, high = 0.0f;
  std::vector<float> channel(static_cast<size_t>(each));
  for (int64_t m = 0; m < channels; ++m) {
    for (int64_t i = 0; i < each; ++i) channel[static_cast<size_t>(i)] = weight(m, i);
    const std::optional<float> scale = find_scale(channel);
    if (!scale) return nullptr;
    found.scale.push_back(*scale);
    if (channel.empty()) continue;
    const auto [least, most] = std::ranges::minmax(channel);
    low = std::min(low, std::nearbyint(least / *scale));
    high = std::max(high, std::nearbyint(most / *scale));
  }
  if (found.scale.empty() || high - low > 255.0f) return nullptr;
  if (low < -128.0f || high > 127.0f) found.zero = static_cast<int32_t>(-low);
  return std::make_shared<const ByteWeights>(std::move(found));
}

std::optional<std::pair<int32_t, int32_t>> byte_range(std::span<const float> weights) {
  float low = 0.0f, high = 0.0f;
  for (const float weight : weights) {
    if (!(std::abs(weight) <= kMostInteger) || weight != std::nearbyint(weight)) return std::nullopt;
    low = std::min(low, weight);
    high = std::max(high, weight);
  }
  if (high - low > kMostInteger) return std::nullopt;
  return std::pair{static_cast<int32_t>(low), static_cast<int32_t>(high)};
}

namespace {

// Returns whether a sum of products with these weights may have a magnitude of `most`. The other factors are
// integers from -z to `range` - z for any zero point z.
bool may_reach(double most, int range, std::span<const float> weights, size_t channels) {
  const size_t each = weights.size() / std::max<size_t>(channels, 1);
  for (size_t m = 0; m < channels; ++m) {
    double positive = 0.0, negative = 0.0;
    for (const float weight : weights.subspan(m * each, each))
      (weight > 0.0f ? positive : negative) += static_cast<double>(std::abs(weight));
    if (range * std::max(positive, negative) >= most) return true;
  }
  return false;
}

// Returns whether a sum of products of bytes with these weights may exceed the 24 bits of a float.
bool may_exceed_floats(std::span<const float> weights, size_t channels) {
  return may_reach(0x1p24, kMostInteger, weights, channels);
}

ByteWeightsPointer scaled_weights(const Lowering& lowering, size_t input) {
  const std::vector<float> weights = lowering.constant(input)->to_floats();
  ByteWeights found;
  found.scale = lowering.constant(4)->to_floats();
  const auto range = byte_range(weights);
  if (!range) return nullptr;
  if (range->first < -128 || range->second > 127) found.zero = -range->first;
  found.scales_last = true;
  found.exceeds_floats = may_exceed_floats(weights, found.scale.size());
  return std::make_shared<const ByteWeights>(std::move(found));
}

// `weights`: integers, by output channel.
ByteWeightsPointer fixed_point_weights(const std::vector<float>& weights,
                                       const std::shared_ptr<const FixedPoint>& fixed, bool adds_integers) {
  const auto range = byte_range(weights);
  if (!range) return nullptr;
  ByteWeights found;
  found.scale = fixed->w_scale;
  found.fixed_point = fixed;
  if (range->first < -128 || range->second > 127) found.zero = -range->first;
  found.exceeds_floats = fixed->has_16_bits || may_exceed_floats(weights, found.scale.size());
  found.exceeds_int32 = fixed->has_16_bits && may_reach(0x1p31, kMost16Bits, weights, found.scale.size());
  if (found.exceeds_floats && !adds_integers) return nullptr;
  return std::make_shared<const ByteWeights>(std::move(found));
}

// Returns the weights of a convolution in fixed point; null unless its input has the scale that it expects.
ByteWeightsPointer fixed_point_weights(const Lowering& lowering, size_t input, bool adds_integers) {
  const auto* conv = dynamic_cast<const Conv*>(&layer_of(*lowering.node().op));
  if (!conv || !conv->fixed_point || !conv->fixed_point->fits(conv->activation, lowering.has_input(3)))
    return nullptr;
  if (lowering.has_input(4) || !has_integers_of(*conv->fixed_point, lowering)) return nullptr;
  return fixed_point_weights(in_integers(*lowering.constant(input), conv->fixed_point->w_scale).to_floats(),
                             conv->fixed_point, adds_integers);
}

}  // namespace

bool has_integers_of(const FixedPoint& fixed, const Lowering& lowering) {
  const bool has_bytes = has_step(lowering, 0, fixed.x_scale);
  return has_bytes || (fixed.has_16_bits && lowering.desc_of_input(0).element == ElementType::f32);
}

bool has_step(const Lowering& lowering, size_t i, float step) {
  return lowering.is_in_bytes(i) && lowering.desc_of_input(i).grid.step == step;
}

float ByteWeights::scale_of_sum(size_t m) const {
  const double unit = static_cast<double>(scale[m]) * x_step;
  return static_cast<float>(sum_step != 0.0f ? unit / sum_step : unit);
}

// A bias of a quantised model is an integer in these units, which was multiplied by the scale and rounded.
float ByteWeights::bias_of_sum(size_t m, float bias) const {
  constexpr double kRounding = 4 * 0x1p-24;
  const double steps = bias / (static_cast<double>(scale[m]) * x_step), whole = std::nearbyint(steps);
  return static_cast<float>(std::abs(steps - whole) <= kRounding * std::abs(steps) ? whole : steps);
}

float ByteWeights::word(size_t word, int64_t channel, const float* bias) const {
  const auto m = static_cast<size_t>(channel);
  if (m >= scale.size()) return 0.0f;
  if (!fixed_point && x_step != 0.0f)
    return word == 1 ? scale_of_sum(m) : bias ? bias_of_sum(m, *bias) : 0.0f;
  if (!fixed_point) return word == 1 ? scale[m] : bias ? *bias / unit(channel) : 0.0f;
  const FixedMultiplier& by = fixed_point->multipliers[m];
  const int64_t low = fixed_point->bias[m], high = low >> 32;
  const int64_t words[] = {low, by.multiplier, by.shift, high};
  return std::bit_cast<float>(static_cast<int32_t>(words[word]));
}

std::vector<int64_t> ByteWeights::packing_parameters() const {
  std::vector<int64_t> parameters{zero};
  if (bits != 8 || blocks) parameters.insert(parameters.end(), {-bits, blocks ? blocks->slices : 0});
  if (scales_last) parameters.push_back(1);
  if (x_step != 0.0f)
    parameters.insert(parameters.end(),
                      {3, std::bit_cast<int32_t>(x_step), std::bit_cast<int32_t>(sum_step)});
  if (dot_products != DotProducts::none) parameters.push_back(4);
  if (!fixed_point) return parameters;
  uint64_t hash = 14695981039346656037u;  // FNV-1a, of 32 bits at a time
  const auto add = [&](int32_t number) { hash = (hash ^ static_cast<uint32_t>(number)) * 1099511628211u; };
  for (size_t m = 0; m < scale.size(); ++m) {
    add(static_cast<int32_t>(fixed_point->bias[m]));
    if (has_16_bits()) add(static_cast<int32_t>(fixed_point->bias[m] >> 32));
    add(fixed_point->multipliers[m].multiplier);
    add(fixed_point->multipliers[m].shift);
    add(std::bit_cast<int32_t>(scale[m]));
  }
  parameters.push_back(has_16_bits() ? 5 : 2);
  parameters.push_back(static_cast<int64_t>(hash));
  return parameters;
}

ByteWeightsPointer byte_weights(const Lowering& lowering, size_t input, bool adds_integers) {
  if (dynamic_cast<const ScaledConv*>(lowering.node().op.get())) return scaled_weights(lowering, input);
  if (!lowering.may_have_byte_weights() || computes_weights(lowering, input)) return nullptr;
  if (auto fixed = fixed_point_weights(lowering, input, adds_integers)) return fixed;
  const HostTensor& weights = *lowering.constant(input);
  const std::vector<float> values = weights.to_floats();
  const int64_t channels = weights.shape()[0], each = weights.elements() / std::max<int64_t>(channels, 1);
  return find_byte_weights(channels, each,
                           [&](int64_t m, int64_t i) { return values[static_cast<size_t>(m * each + i)]; });
}

ByteWeightsPointer in_steps(const Lowering& lowering, const ByteWeightsPointer& bytes,
                            const Activation& activation) {
  if (!bytes || bytes->fixed_point || bytes->scales_last || bytes->blocks || bytes->bits != 8) return bytes;
  if (!lowering.is_in_bytes(0) || lowering.has_input(4)) return bytes;
  ByteWeights found = *bytes;
  found.x_step = lowering.desc_of_input(0).grid.step;
  if (lowering.has_input(3))
    found.sum_step = activation.rounds_sum() ? activation.sum_step : 0.0f;
  else
    found.sum_step = activation.only_rounds() ? activation.step : 0.0f;
  // In units of less a bias of a channel whose weights are nearly zero might exceed the range of floats.
  constexpr double kLeastUnit = 0x1p-80;
  for (size_t m = 0; m < found.scale.size(); ++m)
    if (static_cast<double>(found.scale[m]) * found.x_step < kLeastUnit ||
        !std::isnormal(found.scale_of_sum(m)))
      return bytes;
  return std::make_shared<const ByteWeights>(std::move(found));
}

int64_t transposed_weight_index(int64_t group_inputs, int64_t group_outputs, int64_t taps, int64_t m,
                                int64_t c, int64_t tap) {
  const int64_t input = m / group_outputs * group_inputs + c;
  return (input * group_outputs + m % group_outputs) * taps + tap;
}

ByteWeightsPointer transposed_byte_weights(const Lowering& lowering, int64_t taps) {
  const auto& conv = lowering.op<ConvTranspose>();
  if (!lowering.may_have_byte_weights() || computes_weights(lowering, 1)) return nullptr;
  if (!conv.adds_integers() || !has_integers_of(*conv.fixed_point, lowering)) {
    const std::vector<float> weights = lowering.constant(1)->to_floats();
    const Shape& shape = lowering.input_type(1).shape;
    const int64_t inputs = shape[0] / conv.group, outputs = shape[1];
    return find_byte_weights(outputs * conv.group, inputs * taps, [&](int64_t m, int64_t i) {
      return weights[static_cast<size_t>(
          transposed_weight_index(inputs, outputs, taps, m, i / taps, i % taps))];
    });
  }
  const HostTensor integers = transposed_in_integers(*lowering.constant(1), conv.fixed_point->w_scale);
  Transpose by_output;
  by_output.perm = Ints{1, 0, 2, 3};
  const HostTensor* inputs[] = {&integers};
  return fixed_point_weights(by_output.evaluate(inputs)[0].to_floats(), conv.fixed_point,
                             conv.fixed_point->has_16_bits);
}

TensorDesc in_bytes(TensorDesc desc, const ByteWeights& weights) {
  desc.element = ElementType::q8;
  desc.grid = {1.0f, weights.zero};
  return desc;
}

ByteTexels::ByteTexels(size_t texels, const ByteWeights& weights)
    : bytes_(4 * texels, static_cast<std::byte>(weights.bits == 4 ? 17 * weights.zero : weights.zero)),
      zero_(weights.zero),
      bits_(static_cast<size_t>(weights.bits)) {}

void ByteTexels::set_weight(size_t texel, size_t channel, float weight, float scale) {
  set_integer(texel, channel, static_cast<int32_t>(std::nearbyint(weight / scale)) + zero_);
}

void ByteTexels::set_integer(size_t column, size_t channel, int32_t integer) {
  const auto value = static_cast<uint8_t>(integer);
  if (bits_ == 8) return set_byte(column, channel, value);
  std::byte& pair = bytes_[4 * (column / 2) + channel];
  pair = column % 2 == 0 ? (pair & std::byte{0xF0}) | std::byte{value}
                         : (pair & std::byte{0x0F}) | std::byte(value << 4);
}

void ByteTexels::set_byte(size_t texel, size_t channel, uint8_t byte) {
  bytes_[4 * texel + channel] = std::byte{byte};
}

void ByteTexels::transpose(size_t texels) {
  constexpr std::byte kOffset{128};
  for (size_t first = 0; first < 4 * texels; first += 16) {
    std::array<std::byte, 16> block;
    std::copy_n(&bytes_[first], block.size(), block.begin());
    for (size_t i = 0; i < block.size(); ++i) bytes_[first + i] = block[4 * (i % 4) + i / 4] ^ kOffset;
  }
}

void ByteTexels::set_word(size_t texel, float word) { std::memcpy(&bytes_[4 * texel], &word, sizeof(word)); }

}  // namespace vellum
