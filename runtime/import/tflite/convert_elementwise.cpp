// Converters of elementwise operators, and of operators on constants.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/tensors.hpp"

namespace vellum::tflite {

void convert_complex_part(const Call& call);  // convert_fourier.cpp
namespace {

struct UnaryRow {
  std::string_view type;
  UnaryKind kind;
  Activation activation;
};

constexpr UnaryRow kUnary[] = {
    {"RELU", UnaryKind::activation, {ActivationKind::relu}},
    {"RELU_N1_TO_1", UnaryKind::activation, {ActivationKind::clip, -1.0f, 1.0f}},
    {"RELU6", UnaryKind::activation, {ActivationKind::clip, 0.0f, 6.0f}},
    {"RELU_0_TO_1", UnaryKind::activation, {ActivationKind::clip, 0.0f, 1.0f}},
    {"LOGISTIC", UnaryKind::activation, {ActivationKind::sigmoid}},
    {"TANH", UnaryKind::activation, {ActivationKind::tanh}},
    {"HARD_SWISH", UnaryKind::activation, {ActivationKind::hard_swish}},
    {"ELU", UnaryKind::activation, {ActivationKind::elu, 1.0f}},
    {"LEAKY_RELU", UnaryKind::activation, {ActivationKind::leaky_relu}},
    {"GELU", UnaryKind::activation, {ActivationKind::gelu}},
    {"ABS", UnaryKind::abs, {}},
    {"NEG", UnaryKind::neg, {}},
    {"SIGN", UnaryKind::sign, {}},
    {"EXP", UnaryKind::exp, {}},
    {"LOG", UnaryKind::log, {}},
    {"SQRT", UnaryKind::sqrt, {}},
    {"SIN", UnaryKind::sin, {}},
    {"COS", UnaryKind::cos, {}},
    {"FLOOR", UnaryKind::floor, {}},
    {"CEIL", UnaryKind::ceil, {}},
    {"ROUND", UnaryKind::round, {}},
    {"LOGICAL_NOT", UnaryKind::logical_not, {}},
};

struct BinaryRow {
  std::string_view type;
  BinaryKind kind;
};

constexpr BinaryRow kBinary[] = {
    {"ADD", BinaryKind::add},
    {"SUB", BinaryKind::sub},
    {"MUL", BinaryKind::mul},
    {"DIV", BinaryKind::div},
    {"POW", BinaryKind::pow},
    {"MAXIMUM", BinaryKind::max},
    {"MINIMUM", BinaryKind::min},
    {"LOGICAL_OR", BinaryKind::logical_or},
    {"LOGICAL_AND", BinaryKind::logical_and},
    {"BITWISE_XOR", BinaryKind::bitwise_xor},
};

schema::FusedActivation fused_activation(const Call& call) {
  if (const auto* add = call.options<schema::AddOptions>()) return add->activation();
  if (const auto* sub = call.options<schema::SubOptions>()) return sub->activation();
  if (const auto* mul = call.options<schema::MulOptions>()) return mul->activation();
  if (const auto* div = call.options<schema::DivOptions>()) return div->activation();
  return schema::FusedActivation::none;
}

// CheckedLog2() in tflite/kernels/kernel_util.cc.
bool is_power_of_two(float scale) {
  const float exponent = std::log2(scale);
  return std::abs(exponent - std::round(exponent)) < 1e-3f;
}

// Returns the integer arithmetic with which LiteRT combines two quantised tensors. Returns an empty pair for
// floats, and for sums of 16 bits whose scales are powers of two, for which LiteRT has another arithmetic.
FixedPair read_fixed_pair(const Call& call, BinaryKind kind) {
  const bool is_product = kind == BinaryKind::mul;
  if (!is_product && kind != BinaryKind::add && kind != BinaryKind::sub) return {};
  const auto a = grid_scale(call, call.input(0)), b = grid_scale(call, call.input(1)),
             y = grid_scale(call, call.output());
  if (!a || !b || !y || a->has_16_bits() != b->has_16_bits() || a->has_16_bits() != y->has_16_bits())
    return {};
  const int bits = y->has_16_bits() ? 16 : 8;
  if (bits == 16 && (a->zero != 0 || b->zero != 0)) return {};
  if (is_product) return fixed_product(a->scale, b->scale, y->scale, bits);
  if (bits == 16 && is_power_of_two(a->scale) && is_power_of_two(b->scale) && is_power_of_two(y->scale))
    return {};
  return fixed_sum(a->scale, b->scale, y->scale, bits);
}

FixedPair read_fixed_squared_difference(const Call& call) {
  const auto a = call.writer.byte_scale(call.input(0)), b = call.writer.byte_scale(call.input(1)),
             y = call.writer.byte_scale(call.output());
  return a && b && y ? fixed_squared_difference(*a, *b, *y) : FixedPair{};
}

// PreluPrepare() in tflite/kernels/activations.cc.
FixedPair read_fixed_prelu(const Call& call) {
  const Writer& writer = call.writer;
  const std::optional<float> x = writer.byte_scale(call.input(0)), slope = writer.byte_scale(call.input(1)),
                             y = writer.byte_scale(call.output());
  constexpr float kMostRatio = 0x1p15f;  // times 255 that is far below 2^31
  if (!x || !slope || !y || !(*x / *y < kMostRatio)) return {};
  FixedPair pair = fixed_product(*x, *slope, *y);
  pair.a = fixed_multiplier(static_cast<double>(*x / *y));
  return pair;
}

// Emits a function of quantised integers as a table, where LiteRT computes it from integers.
bool emit_table(const Call& call, bool image) {
  const auto x = grid_scale(call, call.input(0)), y = grid_scale(call, call.output());
  const auto function = x && y ? byte_function(call, *x, *y) : std::nullopt;
  if (!function) return false;
  const TableNode table = make_table(call, *x, *y, *function);
  call.emit(table.op, {call.broadcast_input(0, image), table.entries}, image);
  return true;
}

}  // namespace

void convert_unary(const Call& call) {
  for (const UnaryRow& row : kUnary) {
    if (row.type != call.type) continue;
    auto op = make_unary(row.kind);
    op->activation = row.activation;
    if (call.type == "LEAKY_RELU") {
      op->activation.alpha = call.required_options<schema::LeakyReluOptions>().alpha();
    }
    if (const auto* gelu = call.options<schema::GeluOptions>(); gelu != nullptr && gelu->approximate()) {
      op->activation.kind = ActivationKind::gelu_tanh;
    }
    const bool image = call.prefers_image();
    if (emit_table(call, image)) return;
    call.emit(std::move(op), {call.broadcast_input(0, image)}, image);
    return;
  }
}

void convert_binary(const Call& call) {
  for (const BinaryRow& row : kBinary) {
    if (row.type != call.type) continue;
    const bool image = call.prefers_image();
    auto op = make_binary(row.kind);
    op->fixed_point = read_fixed_pair(call, row.kind);
    call.emit(std::move(op), {call.broadcast_input(0, image), call.broadcast_input(1, image)}, image,
              fused_activation(call));
    return;
  }
}

namespace {

// Emits the quotient of floats rounded down: the division of what is without remainder, because a quotient
// may be rounded up to a whole number.
void floor_div_of_floats(const Call& call, ValueId x, ValueId y, bool image) {
  const ValueId remainder = call.emit_inner(make_binary(BinaryKind::mod), {x, y});
  const ValueId multiple = call.emit_inner(make_binary(BinaryKind::sub), {x, remainder});
  call.emit(make_unary(UnaryKind::round), {call.emit_inner(make_binary(BinaryKind::div), {multiple, y})},
            image);
}

}  // namespace

// Emits the quotient rounded down. Division of integers rounds towards zero: one less where the signs differ
// and there is a remainder. x without its remainder might not fit its type.
void convert_floor_div(const Call& call) {
  const bool image = call.prefers_image();
  const ValueId x = call.broadcast_input(0, image), y = call.broadcast_input(1, image);
  const DType dtype = call.writer.type(call.output()).dtype;
  if (is_float(dtype)) return floor_div_of_floats(call, x, y, image);
  const auto combine = [&](BinaryKind kind, ValueId a, ValueId b) {
    return call.emit_inner(make_binary(kind), {a, b});
  };
  const auto number = [&](int64_t value) {
    return call.writer.add_constant(call.writer.name_of(call.output()) + "_number",
                                    HostTensor::from<int64_t>(dtype, {}, Ints{value}));
  };
  const ValueId zero = number(0), quotient = combine(BinaryKind::div, x, y);
  const ValueId signs_differ = combine(BinaryKind::logical_xor, combine(BinaryKind::less, x, zero),
                                       combine(BinaryKind::less, y, zero));
  const ValueId is_exact = combine(BinaryKind::equal, combine(BinaryKind::mul, quotient, y), x);
  const ValueId rounded_up = combine(BinaryKind::logical_and, signs_differ,
                                     call.emit_inner(make_unary(UnaryKind::logical_not), {is_exact}));
  call.emit(std::make_shared<Where>(), {rounded_up, combine(BinaryKind::sub, quotient, number(1)), quotient},
            image);
}

// The remainder with the sign of the divisor.
void convert_floor_mod(const Call& call) {
  const bool image = call.prefers_image();
  call.emit(make_binary(BinaryKind::mod), {call.broadcast_input(0, image), call.broadcast_input(1, image)},
            image);
}

// Computed from the angle within an eighth of the circle, whose tangent is at most 1.
void convert_atan2(const Call& call) {
  const bool image = call.prefers_image();
  const ValueId y = call.broadcast_input(0, image), x = call.broadcast_input(1, image), zero = call.scalar(0);
  const auto unary = [&](UnaryKind kind, ValueId a) { return call.emit_inner(make_unary(kind), {a}); };
  const auto combine = [&](BinaryKind kind, ValueId a, ValueId b) {
    return call.emit_inner(make_binary(kind), {a, b});
  };
  const auto where = [&](ValueId condition, ValueId a, ValueId b) {
    return call.emit_inner(std::make_shared<Where>(), {condition, a, b});
  };
  constexpr float kPi = std::numbers::pi_v<float>;
  const ValueId width = unary(UnaryKind::abs, x), height = unary(UnaryKind::abs, y);
  const ValueId longer = combine(BinaryKind::max, width, height),
                shorter = combine(BinaryKind::min, width, height);
  const ValueId divisor = combine(BinaryKind::max, longer, call.scalar(std::numeric_limits<float>::min()));
  ValueId angle = unary(UnaryKind::atan, combine(BinaryKind::div, shorter, divisor));
  angle = where(combine(BinaryKind::greater, height, width),
                combine(BinaryKind::sub, call.scalar(kPi / 2), angle), angle);
  angle = where(combine(BinaryKind::less, x, zero), combine(BinaryKind::sub, call.scalar(kPi), angle), angle);
  call.emit(std::make_shared<Where>(),
            {combine(BinaryKind::less, y, zero), unary(UnaryKind::neg, angle), angle}, image);
}

// Rounds to steps between the bounds, which are moved so that 0 is a step: NudgeQuantizationRange() of
// reference/fake_quant.h.
void convert_fake_quant(const Call& call) {
  const auto& options = call.required_options<schema::FakeQuantOptions>();
  if (options.num_bits() < 2 || options.num_bits() > 16)
    refuse_model(std::to_string(options.num_bits()) + " bits");
  const float least = options.narrow_range() ? 1.0f : 0.0f;
  const auto most = static_cast<float>((1 << options.num_bits()) - 1);
  const float step = (options.max() - options.min()) / (most - least);
  if (!(step > 0.0f && std::isfinite(step)) || options.min() > 0.0f || options.max() < 0.0f)
    refuse_model("a range from " + std::to_string(options.min()) + " to " + std::to_string(options.max()));
  const float zero = std::round(std::clamp(least - options.min() / step, least, most));
  auto op = std::make_shared<Unary>();
  op->activation = {.step = step, .least = least - zero, .most = most - zero, .ties_away = true};
  const bool image = call.prefers_image();
  call.emit(std::move(op), {call.writer.in_order(call.input(0), image)}, image);
}

void convert_add_n(const Call& call) {
  const bool image = call.prefers_image();
  ValueId sum = call.broadcast_input(0, image);
  for (size_t i = 1; i + 1 < call.inputs.size(); ++i)
    sum = call.emit_inner(make_binary(BinaryKind::add), {sum, call.broadcast_input(i, image)});
  if (call.inputs.size() == 1) return call.emit(std::make_shared<Identity>(), {sum}, image);
  call.emit(make_binary(BinaryKind::add), {sum, call.broadcast_input(call.inputs.size() - 1, image)}, image);
}

void convert_rsqrt(const Call& call) {
  const bool image = call.prefers_image();
  if (emit_table(call, image)) return;
  const ValueId root = call.emit_inner(make_unary(UnaryKind::sqrt), {call.broadcast_input(0, image)});
  call.emit(make_unary(UnaryKind::reciprocal), {root}, image);
}

void convert_square(const Call& call) {
  const bool image = call.prefers_image();
  const ValueId x = call.broadcast_input(0, image);
  call.emit(make_binary(BinaryKind::mul), {x, x}, image);
}

void convert_squared_difference(const Call& call) {
  const bool image = call.prefers_image();
  const ValueId x = call.broadcast_input(0, image), subtrahend = call.broadcast_input(1, image);
  if (const FixedPair pair = read_fixed_squared_difference(call)) {
    auto op = make_binary(BinaryKind::squared_difference);
    op->fixed_point = pair;
    return call.emit(std::move(op), {x, subtrahend}, image);
  }
  const ValueId difference = call.emit_inner(make_binary(BinaryKind::sub), {x, subtrahend});
  call.emit(make_binary(BinaryKind::mul), {difference, difference}, image);
}

void convert_prelu(const Call& call) {
  const bool image = call.prefers_image();
  auto op = std::make_shared<PRelu>();
  op->fixed_point = read_fixed_prelu(call);
  call.emit(std::move(op), {call.broadcast_input(0, image), call.broadcast_input(1, image)}, image);
}

void convert_cast(const Call& call) {
  if (call.writer.quantised(call.input(0)) || call.writer.quantised(call.output())) {
    refuse_unsupported("the stored integers of a quantised tensor as numbers");
  }
  const DType to = call.writer.type(call.output()).dtype;
  if (call.writer.is_complex(call.input(0)) && to == DType::f32 && !call.writer.is_complex(call.output()))
    return convert_complex_part(call);
  const bool image = call.prefers_image();
  auto op = std::make_shared<Cast>();
  op->to = to;
  call.emit(std::move(op), {call.broadcast_input(0, image)}, image);
}

// Copies the sign bit. RightShift() of tflite/kernels/right_shift.cc limits the distance to the bits of the
// type.
void convert_right_shift(const Call& call) {
  const DType dtype = call.writer.type(call.input(0)).dtype;
  if (is_float(dtype) || dtype == DType::boolean) refuse_unsupported("elements that are not integers");
  const bool image = call.prefers_image();
  const auto constant = [&](const char* what, int64_t value) {
    return call.writer.add_constant(call.writer.name_of(call.output()) + what,
                                    HostTensor::from<int64_t>(dtype, {}, Ints{value}));
  };
  ValueId distance = call.broadcast_input(1, image);
  const auto most = static_cast<int64_t>(8 * size_of(dtype)) - 1;
  distance = call.emit_inner(make_binary(BinaryKind::min), {distance, constant("_most", most)});
  distance = call.emit_inner(make_binary(BinaryKind::max), {distance, constant("_least", 0)});
  call.emit(make_binary(BinaryKind::shift_right), {call.broadcast_input(0, image), distance}, image);
}

// Quantised tensors are held as real numbers, so that conversions between them and floats change nothing. A
// conversion to integers of another scale rounds.
void convert_quantize(const Call& call) {
  if (!is_float(call.writer.type(call.input(0)).dtype) || !is_float(call.writer.type(call.output()).dtype)) {
    refuse_unsupported("integers without a scale");
  }
  if (const HostTensor* value = call.writer.constant(call.input(0)); value != nullptr) {
    call.writer.set_constant(call.output(), *value);
    return;
  }
  const bool image = call.prefers_image();
  if (emit_table(call, image)) return;
  call.emit(std::make_shared<Identity>(), {call.broadcast_input(0, image)}, image);
}

// float16 weights are the input of a DEQUANTIZE. It is folded here, so that the weights are constants.
void convert_dequantize(const Call& call) {
  const HostTensor* value = call.writer.constant(call.input(0));
  const DType from = call.writer.type(call.input(0)).dtype;
  if (call.writer.quantised(call.input(0))) {
    if (value != nullptr)
      call.writer.set_dequantised(call.output(), call.input(0));
    else
      convert_quantize(call);
    return;
  }
  if (from != DType::f16) refuse_unsupported("its input is neither quantised nor float16");
  if (value != nullptr) {
    call.writer.file().count(static_cast<uint64_t>(value->elements()), sizeof(float));
    call.writer.set_constant(call.output(), cast(*value, DType::f32));
  } else {
    convert_cast(call);
  }
}

// The sparse constant is already dense: it was densified when it was read.
void convert_densify(const Call& call) {
  const HostTensor* value = call.writer.constant(call.input(0));
  if (value == nullptr) refuse_unsupported("a sparse tensor that is computed at run time");
  call.writer.set_constant(call.output(), *value);
}

}  // namespace vellum::tflite
