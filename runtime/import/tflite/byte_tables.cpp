#include "import/tflite/byte_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/narrow_types.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/elementwise/fixed_functions.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"
#include "import/tflite/short_functions.hpp"

namespace vellum::tflite {

std::optional<ByteScale> byte_scale(const Call& call, int32_t tensor) {
  const auto scale = grid_scale(call, tensor);
  return scale && !scale->has_16_bits() ? scale : std::nullopt;
}

std::optional<ByteScale> grid_scale(const Call& call, int32_t tensor) {
  const auto scale = call.writer.grid_scale(tensor);
  if (!scale) return std::nullopt;
  const DType stored = call.writer.stored_type(tensor);
  const IntegerRange range = integer_range(stored, static_cast<int>(8 * size_of(stored)));
  return ByteScale{*scale, static_cast<int32_t>(call.writer.zero_point_of(tensor)),
                   static_cast<int32_t>(range.low), static_cast<int32_t>(range.high)};
}

TableNode make_table(const Call& call, const ByteScale& x, const ByteScale& y, const ByteFunction& function) {
  auto op = std::make_shared<ByteTable>();
  op->x_step = x.scale;
  op->y_step = y.scale;
  op->first = x.low - x.zero;
  op->y_least = y.low - y.zero;
  op->y_most = y.high - y.zero;
  std::vector<float> table;
  for (int32_t i = x.low; i <= x.high; ++i)
    table.push_back(static_cast<float>(std::clamp(function(i), y.low, y.high) - y.zero) * y.scale);
  call.writer.file().count(table.size(), sizeof(float));
  const Shape shape{static_cast<int64_t>(table.size())};
  return {std::move(op), call.writer.add_constant(call.writer.name_of(call.output()) + "_table",
                                                  HostTensor::f32(shape, table))};
}

namespace {

// LUTPopulate() in tflite/kernels/internal/common.h.
ByteFunction looked_up(const ByteScale& x, const ByteScale& y, float (*function)(float)) {
  return [=](int32_t integer) {
    const float inverse = 1.0f / y.scale;
    const float real = x.scale * static_cast<float>(integer - x.zero);
    const float rescaled = std::round(function(real) * inverse);
    const double most = std::numeric_limits<int16_t>::max();
    return static_cast<int32_t>(std::clamp(static_cast<double>(rescaled) + y.zero, -most, most));
  };
}

// ReluX() in tflite/kernels/internal/optimized/optimized_ops.h.
ByteFunction bounded(const ByteScale& x, const ByteScale& y, float low, float high) {
  const FixedMultiplier multiplier = fixed_multiplier(static_cast<double>(x.scale / y.scale));
  const auto bound = [&](float value) { return static_cast<double>(y.zero) + std::round(value / y.scale); };
  const auto least = static_cast<int32_t>(std::clamp(bound(low), double{-1e6}, double{1e6}));
  const int32_t most =
      std::isinf(high) ? y.high : static_cast<int32_t>(std::clamp(bound(high), double{-1e6}, double{1e6}));
  return [=](int32_t integer) {
    return std::clamp(y.zero + multiply(integer - x.zero, multiplier), std::max(least, y.low),
                      std::max(std::min(most, y.high), std::max(least, y.low)));
  };
}

// tflite/kernels/internal/reference/leaky_relu.h
ByteFunction leaky(const ByteScale& x, const ByteScale& y, float alpha) {
  const FixedMultiplier same = fixed_multiplier(static_cast<double>(x.scale / y.scale)),
                        scaled = fixed_multiplier(static_cast<double>(std::abs(x.scale * alpha / y.scale)));
  return [=](int32_t integer) {
    const int32_t value = integer - x.zero;
    if (value >= 0) return y.zero + multiply(value, same);
    const int32_t product = multiply(value, scaled);
    return y.zero + (alpha < 0.0f ? -product : product);
  };
}

// Integers of 16 bits as in tflite/kernels/internal/reference/hard_swish.h.
int32_t high_product(int32_t a, int32_t b) {
  if (a == b && a == -32768) return 32767;
  const int32_t product = a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return (product + nudge) / (1 << 15);
}
int32_t truncated_high_product(int32_t a, int32_t b) {
  return a == b && a == -32768 ? 32767 : a * b / (1 << 15);
}
int32_t shifted_left(int32_t value, int32_t shift) {
  return static_cast<int32_t>(std::clamp<int64_t>(int64_t{value} * (int64_t{1} << shift), -32768, 32767));
}
int32_t shifted_right(int32_t value, int32_t shift) {
  const int32_t mask = (1 << shift) - 1, threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> shift) + ((value & mask) > threshold ? 1 : 0);
}
int32_t in_16_bits(int32_t multiplier) {
  return multiplier >= 0x7fff0000 - (1 << 15) ? 32767 : (multiplier + (1 << 15)) >> 16;
}

std::optional<ByteFunction> hard_swish(const ByteScale& x, const ByteScale& y) {
  const float fine = (1.0f / 128.0f) * x.scale;
  const FixedMultiplier to_y = fixed_multiplier(static_cast<double>(fine / y.scale)),
                        to_reluish = fixed_multiplier(static_cast<double>(fine / (3.0f / 32768.0f)));
  if (to_y.shift > 0 || to_y.shift < -30 || std::abs(to_reluish.shift) > 15) return std::nullopt;
  const int32_t y_16 = in_16_bits(to_y.multiplier), reluish_16 = in_16_bits(to_reluish.multiplier);
  return [=](int32_t integer) {
    const int32_t value = (integer - x.zero) * 128;
    const int32_t before_shift = high_product(value, y_16);
    int32_t reluish = value;
    if (to_reluish.shift > 0) reluish = shifted_left(reluish, to_reluish.shift - 1);
    reluish = high_product(reluish, reluish_16);
    if (to_reluish.shift > 0) reluish = shifted_left(reluish, 1);
    if (to_reluish.shift < 0) reluish = shifted_right(reluish, -to_reluish.shift);
    reluish = (reluish + (1 << 15)) >> 1;
    return shifted_right(truncated_high_product(reluish, before_shift), -to_y.shift) + y.zero;
  };
}

// AbsEvalQuantized() in tflite/kernels/elementwise.cc.
ByteFunction absolute(const ByteScale& x, const ByteScale& y) {
  const FixedMultiplier multiplier = fixed_multiplier(static_cast<double>(x.scale / y.scale));
  const bool rescales = x.scale != y.scale;
  return [=](int32_t integer) {
    const int32_t value = std::abs(integer - x.zero);
    return (rescales ? multiply(value, multiplier) : value) + y.zero;
  };
}

// LogLUTPrepare(): the least number of y where there is no logarithm.
ByteFunction logarithm(const ByteScale& x, const ByteScale& y) {
  const ByteFunction found = looked_up(x, y, [](float value) { return std::log(value); });
  return [=](int32_t integer) { return integer > x.zero ? found(integer) : y.low; };
}

// SqrtEvalQuantized(), which rounds down. LiteRT refuses to run with negative numbers.
ByteFunction square_root(const ByteScale& x, const ByteScale& y) {
  return [=](int32_t integer) {
    const float root = std::sqrt(x.scale * static_cast<float>(std::max(integer - x.zero, 0)));
    return static_cast<int32_t>(std::min(root / y.scale, 1e6f)) + y.zero;
  };
}

// RsqrtEvalQuantizedInt8() in tflite/kernels/elementwise.cc. LiteRT refuses to run with negative numbers.
ByteFunction inverse_root(const ByteScale& x, const ByteScale& y) {
  constexpr int32_t kFraction = 20;
  const double scale = 1.0 / static_cast<double>(std::sqrt(x.scale) * y.scale);
  const FixedMultiplier multiplier = fixed_multiplier(scale);
  const FixedMultiplier to_y{multiplier.multiplier, multiplier.shift - kFraction};
  if (to_y.shift < -31 || to_y.shift > 0) return {};
  return [=](int32_t integer) {
    const int32_t value = integer - x.zero;
    if (value <= 0) return y.high;
    const FixedMultiplier root = inverse_square_root(value);
    return multiply(multiply(1, {root.multiplier, root.shift + kFraction}), to_y) + y.zero;
  };
}

// GeluTransform() and GeluTransformApproximate() in tflite/kernels/internal/reference/gelu.h.
float gelu(float x) { return 0.5f * x * std::erfc(x * -0.70710678118654752440f); }
float gelu_by_tanh(float x) {
  constexpr float kRootOf2OverPi = 0.79788456080286535588f;
  return 0.5f * x * (1.0f + std::tanh(kRootOf2OverPi * (x + 0.044715f * x * x * x)));
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float tangent(float x) { return std::tanh(x); }
float elu(float x) { return x < 0.0f ? std::expm1(x) : x; }
float exponential(float x) { return std::exp(x); }

}  // namespace

ByteFunction requantise(const ByteScale& x, const ByteScale& y) {
  const FixedMultiplier multiplier =
      fixed_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
  return [=](int32_t integer) { return multiply(integer - x.zero, multiplier) + y.zero; };
}

// ConcatenationWithScaling() in tflite/kernels/internal/reference/concatenation.h.
ByteFunction requantise_to_join(const ByteScale& x, const ByteScale& y) {
  const float scale = x.scale * (1.0f / y.scale);
  const float bias = static_cast<float>(-x.zero) * scale;
  return [=](int32_t integer) {
    const float product = static_cast<float>(integer) * scale;
    return static_cast<int32_t>(std::clamp(std::round(product + bias), -1e6f, 1e6f)) + y.zero;
  };
}

std::optional<ByteFunction> byte_function(const Call& call, const ByteScale& x, const ByteScale& y) {
  constexpr float kMostRatio = 0x1p15f;  // times 255 that is far below 2^31
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(x.scale / y.scale < kMostRatio)) return std::nullopt;
  if (call.type == "QUANTIZE") return requantise(x, y);
  if (x.has_16_bits()) {
    if (call.type == "LOGISTIC") return logistic_of_16_bits(x.scale);
    if (call.type == "TANH") return tanh_of_16_bits(x.scale);
    const bool has_integers =
        call.type == "ABS" || call.type == "LEAKY_RELU" || call.type.starts_with("RELU");
    if (!has_integers) return std::nullopt;
  }
  if (call.type == "LOGISTIC") return looked_up(x, y, sigmoid);
  if (call.type == "TANH") return looked_up(x, y, tangent);
  if (call.type == "ELU") return looked_up(x, y, elu);
  if (call.type == "EXP") return looked_up(x, y, exponential);
  if (call.type == "ABS") return absolute(x, y);
  if (call.type == "LOG") return logarithm(x, y);
  if (call.type == "SQRT") return square_root(x, y);
  if (call.type == "RSQRT") {
    const ByteFunction function = inverse_root(x, y);
    return function ? std::optional(function) : std::nullopt;
  }
  if (call.type == "GELU") {
    const auto* options = call.options<schema::GeluOptions>();
    return looked_up(x, y, options != nullptr && options->approximate() ? gelu_by_tanh : gelu);
  }
  if (call.type == "RELU") return bounded(x, y, 0.0f, kInfinity);
  if (call.type == "RELU6") return bounded(x, y, 0.0f, 6.0f);
  if (call.type == "RELU_N1_TO_1") return bounded(x, y, -1.0f, 1.0f);
  if (call.type == "HARD_SWISH") return hard_swish(x, y);
  if (call.type == "LEAKY_RELU") {
    const float alpha = call.required_options<schema::LeakyReluOptions>().alpha();
    if (!(std::abs(alpha * x.scale / y.scale) < kMostRatio)) return std::nullopt;
    return leaky(x, y, alpha);
  }
  return std::nullopt;
}

}  // namespace vellum::tflite
