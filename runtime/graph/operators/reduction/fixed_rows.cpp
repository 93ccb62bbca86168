#include "graph/operators/reduction/fixed_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "graph/operators/elementwise/fixed_functions.hpp"

namespace vellum {
namespace {

constexpr int32_t kSumBits = 12;  // before the binary point of a sum of exponentials

// PreprocessSoftmaxScaling() and CalculateInputRadius() in tflite/kernels/internal/quantization_util.cc.
std::vector<int32_t> exponentials_of_8_bits(double scale) {
  const FixedMultiplier factor = fixed_multiplier(std::min(scale * (1 << 26), 0x1p31 - 1.0));
  const double most = std::floor(31.0 * 0x1p26 / static_cast<double>(int64_t{1} << factor.shift));
  std::vector<int32_t> result(256, 0);
  for (int32_t i = 0; i < 256 && i <= most; ++i)
    result[static_cast<size_t>(i)] = exp_of_negative(multiply(-i, factor));
  return result;
}

// SoftMaxCalculateExp() in reference/softmax.h.
std::vector<int32_t> exponentials_of_16_bits(double scale) {
  const SegmentTable table =
      segment_table(10.0 / 65535, 32767, 2.0 / 65535, [](double x) { return std::exp(x); });
  const FixedMultiplier factor = fixed_multiplier(scale / (10.0 / 65535.0));
  std::vector<int32_t> result;
  // LiteRT's product overflows if the shift to the left does.
  const int64_t most = std::numeric_limits<int32_t>::max() >> std::max(factor.shift, 0);
  for (int32_t i = 0; i < 65536; ++i) {
    const int64_t scaled = i > most ? -65536 : multiply(-i, factor);
    result.push_back(
        look_up(table, static_cast<int32_t>(std::clamp<int64_t>(scaled + 32767, -32768, 32767))));
  }
  return result;
}

// One row of `length` elements, `inner` apart, as integers.
struct Row {
  const int32_t* x;
  int32_t* y;
  int64_t length, inner;

  int32_t most() const {
    int32_t result = x[0];
    for (int64_t i = 1; i < length; ++i) result = std::max(result, x[i * inner]);
    return result;
  }
};

void softmax_of_8_bits(const Row& row, const std::vector<int32_t>& exponentials) {
  const int32_t most = row.most();
  const auto exponential = [&](int64_t i) {
    return exponentials[static_cast<size_t>(std::min(most - row.x[i * row.inner], 255))];
  };
  uint32_t sum = 0;
  for (int64_t i = 0; i < row.length; ++i)
    sum += static_cast<uint32_t>(rounding_shift(exponential(i), kSumBits));
  int32_t exponent = 0;
  const int32_t scale = reciprocal(sum, kSumBits, exponent);
  const int32_t shift = exponent + 23;
  for (int64_t i = 0; i < row.length; ++i)
    row.y[i * row.inner] =
        shift > 31 ? 0 : rounding_shift(high_product_of_32_bits(scale, exponential(i)), shift);
}

void softmax_of_16_bits(const Row& row, const std::vector<int32_t>& exponentials,
                        const SegmentTable& reciprocals) {
  const int32_t most = row.most();
  const auto exponential = [&](int64_t i) {
    return exponentials[static_cast<size_t>(std::min(most - row.x[i * row.inner], 65535))];
  };
  uint32_t sum = 0;
  for (int64_t i = 0; i < row.length; ++i) sum += static_cast<uint32_t>(exponential(i));
  const int32_t headroom = std::countl_zero(sum);
  if (headroom == 0 || headroom > 30) return;  // no sum of LiteRT
  const auto one_and_rest = static_cast<int32_t>(((uint64_t{sum} << (headroom - 1)) + (1 << 13)) >> 14);
  const int32_t scale = look_up(reciprocals, std::clamp(one_and_rest - (1 << 15) - (1 << 16), -32768, 32767));
  const int32_t shift = 31 - headroom;
  for (int64_t i = 0; i < row.length; ++i)
    row.y[i * row.inner] = (exponential(i) * scale + (1 << (shift - 1))) >> shift;
}

void unit_length(const Row& row, bool is_u8) {
  uint32_t squares = 0;
  for (int64_t i = 0; i < row.length; ++i)
    squares += static_cast<uint32_t>(row.x[i * row.inner] * row.x[i * row.inner]);
  const FixedMultiplier factor = inverse_square_root(static_cast<int32_t>(squares));
  const FixedMultiplier in_steps{factor.multiplier, factor.shift + 7};  // of 1/128
  for (int64_t i = 0; i < row.length; ++i) {
    const int32_t x = row.x[i * row.inner];
    row.y[i * row.inner] = is_u8 ? multiply(128 * x, factor) : multiply(x, in_steps);
  }
}

}  // namespace

std::vector<int32_t> reciprocals_of_16_bits() {
  return segment_table(1.0 / 65535, -32768, 2.0 / 65535, [](double x) { return 1.0 / (1.0 + x); });
}

std::vector<int32_t> FixedRows::exponentials() const {
  const double scale = static_cast<double>(beta) * static_cast<double>(x_step);
  return kind == FixedRowsKind::softmax ? exponentials_of_8_bits(scale) : exponentials_of_16_bits(scale);
}

std::vector<TensorType> FixedRows::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  normalize_axis(axis, x.shape.size());
  return {x};
}

std::vector<HostTensor> FixedRows::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, type.shape.size());
  const int64_t length = type.shape[at], inner = product(type.shape, at + 1, type.shape.size());
  const std::vector<float> values = inputs[0]->to_floats();
  std::vector<int32_t> x, y(values.size(), 0);
  for (const float value : values) x.push_back(integer_of(value, x_step));
  const std::vector<int32_t> exps = is_softmax() ? exponentials() : std::vector<int32_t>{};
  const SegmentTable reciprocals = reciprocals_of_16_bits();
  for (size_t first = 0; first < x.size(); first += static_cast<size_t>(length * inner)) {
    for (size_t i = first; i < first + static_cast<size_t>(inner); ++i) {
      const Row row{x.data() + i, y.data() + i, length, inner};
      if (kind == FixedRowsKind::softmax)
        softmax_of_8_bits(row, exps);
      else if (kind == FixedRowsKind::softmax_16)
        softmax_of_16_bits(row, exps, reciprocals);
      else
        unit_length(row, kind == FixedRowsKind::unit_length_u8);
    }
  }
  std::vector<float> result;
  for (const int32_t integer : y)
    result.push_back(static_cast<float>(std::clamp<int64_t>(integer, y_least, y_most)) * y_step);
  return {HostTensor::from<float>(type.dtype, type.shape, result)};
}

Attributes FixedRows::attributes() const {
  Attributes result;
  result.set("kind", static_cast<int64_t>(kind));
  result.set("axis", axis);
  result.set("x_step", x_step);
  result.set("y_step", y_step);
  result.set("y_least", y_least);
  result.set("y_most", y_most);
  result.set("beta", beta);
  return result;
}

std::shared_ptr<const Operator> make_fixed_rows(const NodeSpec& spec) {
  auto op = std::make_shared<FixedRows>();
  const int64_t kind = spec.attributes->get_int("kind", 0);
  if (kind < 0 || kind > static_cast<int64_t>(FixedRowsKind::unit_length_u8))
    refuse_model("kind " + std::to_string(kind));
  op->kind = static_cast<FixedRowsKind>(kind);
  op->axis = spec.attributes->get_int("axis", -1);
  op->x_step = spec.attributes->get_float("x_step", 1.0f);
  op->y_step = spec.attributes->get_float("y_step", 1.0f);
  op->y_least = spec.attributes->get_int("y_least", 0);
  op->y_most = spec.attributes->get_int("y_most", 255);
  op->beta = spec.attributes->get_float("beta", 1.0f);
  const float scale = op->beta * op->x_step;
  if (!(op->x_step > 0.0f && std::isfinite(op->x_step)))
    refuse_model("a step of " + std::to_string(op->x_step));
  if (!FixedRows::is_scale(scale)) refuse_model("a beta of " + std::to_string(op->beta));
  return op;
}

}  // namespace vellum
