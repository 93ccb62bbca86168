#include "graph/operators/elementwise/binary.hpp"

#include <algorithm>
#include <cmath>

#include "graph/real.hpp"

namespace vellum {

namespace {

struct BinaryName {
  std::string_view type;
  BinaryKind kind;
};

constexpr BinaryName kBinaryNames[] = {
    {"Add", BinaryKind::add},
    {"Sub", BinaryKind::sub},
    {"Mul", BinaryKind::mul},
    {"SquaredDifference", BinaryKind::squared_difference},
    {"Div", BinaryKind::div},
    {"Pow", BinaryKind::pow},
    {"Min", BinaryKind::min},
    {"Max", BinaryKind::max},
    {"Mod", BinaryKind::mod},
    {"Mod", BinaryKind::fmod},
    {"Equal", BinaryKind::equal},
    {"Greater", BinaryKind::greater},
    {"Less", BinaryKind::less},
    {"GreaterOrEqual", BinaryKind::greater_or_equal},
    {"LessOrEqual", BinaryKind::less_or_equal},
    {"And", BinaryKind::logical_and},
    {"Or", BinaryKind::logical_or},
    {"Xor", BinaryKind::logical_xor},
    {"BitShift", BinaryKind::shift_left},
    {"BitShift", BinaryKind::shift_right},
    {"BitwiseAnd", BinaryKind::bitwise_and},
    {"BitwiseOr", BinaryKind::bitwise_or},
    {"BitwiseXor", BinaryKind::bitwise_xor},
};

template <typename T>
T float_arithmetic(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::add:
      return a + b;
    case BinaryKind::sub:
      return a - b;
    case BinaryKind::mul:
      return a * b;
    case BinaryKind::squared_difference:
      return (a - b) * (a - b);
    case BinaryKind::div:
      return a / b;
    case BinaryKind::pow:
      return std::pow(a, b);
    case BinaryKind::min:
      return std::isnan(a) || a < b ? a : b;
    case BinaryKind::max:
      return std::isnan(a) || a > b ? a : b;
    case BinaryKind::fmod:
      return std::fmod(a, b);
    case BinaryKind::mod: {
      const T rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    default:
      throw Error(ErrorCode::internal, "not a function of floating point");
  }
}

// Wraps around as two's complement does; dividing by zero gives 0 (undefined in ONNX).
template <typename T>
T integer_arithmetic(BinaryKind kind, T a, T b) {
  // At least as wide as int, so that narrow unsigned types are not promoted to a signed one that overflows.
  using Unsigned = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
  const auto ua = static_cast<Unsigned>(a), ub = static_cast<Unsigned>(b);
  const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
  switch (kind) {
    case BinaryKind::add:
      return static_cast<T>(ua + ub);
    case BinaryKind::sub:
      return static_cast<T>(ua - ub);
    case BinaryKind::mul:
      return static_cast<T>(ua * ub);
    case BinaryKind::div:
      // The smallest integer over -1 overflows; its negation wraps.
      return b == 0 ? T{0} : minus_one ? static_cast<T>(Unsigned{0} - ua) : static_cast<T>(a / b);
    case BinaryKind::min:
      return std::min(a, b);
    case BinaryKind::max:
      return std::max(a, b);
    case BinaryKind::fmod:
      return b == 0 || minus_one ? T{0} : static_cast<T>(a % b);
    case BinaryKind::mod: {
      const T rest = b == 0 || minus_one ? T{0} : static_cast<T>(a % b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
    case BinaryKind::shift_left:
      return ub >= sizeof(T) * 8 ? T{0} : static_cast<T>(ua << ub);
    case BinaryKind::shift_right:  // at most by the width less 1 at once, as beyond it is undefined
      return static_cast<T>(a >> std::min<Unsigned>(ub, sizeof(T) * 8 - 1) >> (ub >= sizeof(T) * 8 ? 1 : 0));
    case BinaryKind::bitwise_and:
      return static_cast<T>(ua & ub);
    case BinaryKind::bitwise_or:
      return static_cast<T>(ua | ub);
    case BinaryKind::bitwise_xor:
      return static_cast<T>(ua ^ ub);
    default:
      throw Error(ErrorCode::internal, "not a function of integers");
  }
}

template <typename T>
bool compare(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::equal:
      return a == b;
    case BinaryKind::greater:
      return a > b;
    case BinaryKind::less:
      return a < b;
    case BinaryKind::greater_or_equal:
      return a >= b;
    case BinaryKind::less_or_equal:
      return a <= b;
    case BinaryKind::logical_and:
      return a != 0 && b != 0;
    case BinaryKind::logical_or:
      return a != 0 || b != 0;
    default:
      return (a != 0) != (b != 0);  // xor
  }
}

// Calls visit(i, offset in a, offset in b) for each element of the broadcast result.
template <typename Visit>
void for_each_pair(const HostTensor& a, const HostTensor& b, const Shape& shape, Visit&& visit) {
  size_t i = 0;
  for_each_offset<2>(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)},
                     {0, 0}, [&](const auto& offsets) {
                       visit(i++, static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1]));
                     });
}

HostTensor arithmetic(BinaryKind kind, const HostTensor& a, const HostTensor& b, const Shape& shape) {
  HostTensor y(a.dtype(), shape);
  visit_element(a.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in_a = a.as<Element>(), in_b = b.as<Element>();
    auto out = y.mutable_as<Element>();
    for_each_pair(a, b, shape, [&](size_t i, size_t ia, size_t ib) {
      if constexpr (std::is_integral_v<Element>) {
        out[i] = integer_arithmetic(kind, in_a[ia], in_b[ib]);
      } else if constexpr (std::is_same_v<Element, Bool>) {
        throw Error(ErrorCode::internal, "arithmetic on bool");
      } else {
        out[i] = convert<Element>(float_arithmetic(kind, widen(in_a[ia]), widen(in_b[ib])));
      }
    });
  });
  return y;
}

HostTensor comparison(BinaryKind kind, const HostTensor& a, const HostTensor& b, const Shape& shape) {
  HostTensor y(DType::boolean, shape);
  auto out = y.mutable_as<uint8_t>();
  visit_element(a.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in_a = a.as<Element>(), in_b = b.as<Element>();
    for_each_pair(a, b, shape, [&](size_t i, size_t ia, size_t ib) {
      out[i] = compare(kind, widen(in_a[ia]), widen(in_b[ib]));
    });
  });
  return y;
}

// Base and exponent may have different types; integer powers wrap around and stay exact.
template <typename Base>
Base integer_power(Base base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? Base{1} : Base{0};
  Base result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = integer_arithmetic(BinaryKind::mul, result, base);
    base = integer_arithmetic(BinaryKind::mul, base, base);
  }
  return result;
}

HostTensor power(const HostTensor& a, const HostTensor& b, const Shape& shape) {
  if (a.dtype() == b.dtype() && is_float(a.dtype())) return arithmetic(BinaryKind::pow, a, b, shape);
  HostTensor y(a.dtype(), shape);
  const bool integer_exponent = !is_float(b.dtype());
  const HostTensor exponents = cast(b, integer_exponent ? DType::i64 : DType::f64);
  visit_element(a.dtype(), [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = a.as<Element>();
    auto out = y.mutable_as<Element>();
    for_each_pair(a, b, shape, [&](size_t i, size_t ia, size_t ib) {
      if constexpr (std::is_integral_v<Element>) {
        if (integer_exponent) {
          out[i] = integer_power(in[ia], exponents.as<int64_t>()[ib]);
          return;
        }
      }
      const double exponent =
          integer_exponent ? static_cast<double>(exponents.as<int64_t>()[ib]) : exponents.as<double>()[ib];
      out[i] = convert<Element>(std::pow(static_cast<double>(widen(in[ia])), exponent));
    });
  });
  return y;
}

void check_dtype(BinaryKind kind, DType dtype) {
  const bool boolean = dtype == DType::boolean;
  bool fits = is_logical(kind) ? boolean : kind == BinaryKind::equal || !boolean;
  if (is_bitwise(kind)) fits = !boolean && !is_float(dtype);
  if (!fits) refuse_model("inputs of " + std::string(name(dtype)) + " do not fit the operator");
}

}  // namespace

std::string_view Binary::type() const {
  for (const BinaryName& row : kBinaryNames) {
    if (row.kind == kind) return row.type;
  }
  return "Binary";
}

std::vector<TensorType> Binary::infer(Inputs inputs) const {
  const TensorType &a = input_type(inputs, 0, "A"), &b = input_type(inputs, 1, "B");
  if (a.dtype != b.dtype && kind != BinaryKind::pow) {
    refuse_model("A is " + std::string(name(a.dtype)) + " and B is " + std::string(name(b.dtype)));
  }
  check_dtype(kind, a.dtype);
  check_dtype(kind, b.dtype);
  const bool boolean = is_comparison(kind) || is_logical(kind);
  return {{boolean ? DType::boolean : a.dtype, broadcast(a.shape, b.shape)}};
}

HostTensor Binary::combine_integers(const HostTensor& a, const HostTensor& b, const Shape& shape) const {
  const std::vector<float> in_a = a.to_floats(), in_b = b.to_floats();
  std::vector<float> y(static_cast<size_t>(element_count(shape)));
  const auto combine = kind == BinaryKind::add                  ? add_integers
                       : kind == BinaryKind::sub                ? subtract_integers
                       : kind == BinaryKind::squared_difference ? square_integers_difference
                                                                : multiply_integers;
  for_each_pair(a, b, shape, [&](size_t i, size_t ia, size_t ib) {
    y[i] = static_cast<float>(combine(integer_of(in_a[ia], fixed_point.a_step),
                                      integer_of(in_b[ib], fixed_point.b_step), fixed_point)) *
           fixed_point.y_step;
  });
  return HostTensor::from<float>(a.dtype(), shape, y);
}

std::vector<HostTensor> Binary::evaluate(HostInputs inputs) const {
  const Shape shape = infer_known(*this, inputs)[0].shape;
  const HostTensor &a = *inputs[0], &b = *inputs[1];
  if (is_comparison(kind) || is_logical(kind)) return {comparison(kind, a, b, shape)};
  HostTensor y = combines_integers()       ? combine_integers(a, b, shape)
                 : kind == BinaryKind::pow ? power(a, b, shape)
                                           : arithmetic(kind, a, b, shape);
  if (activation) {
    visit_real(y.dtype(), [&](auto tag) {
      using Real = typename decltype(tag)::type;
      HostTensor activated = cast(y, kRealType<Real>);
      for (Real& value : activated.mutable_as<Real>()) value = apply_real(activation, value);
      y = cast(activated, y.dtype());
    });
  }
  return {y};
}

std::shared_ptr<const Operator> Binary::with_activation(const Activation& added) const {
  if (kind > BinaryKind::div) return nullptr;
  return copy_with_activation(*this, added);
}

Attributes Binary::attributes() const {
  Attributes result;
  if (kind == BinaryKind::fmod) result.set("fmod", int64_t{1});
  if (kind == BinaryKind::shift_left) result.set("direction", std::string("LEFT"));
  if (kind == BinaryKind::shift_right) result.set("direction", std::string("RIGHT"));
  if (fixed_point) result.set("fixed_point", int64_t{1});
  print_activation(result, activation);
  return result;
}

std::string_view Variadic::type() const {
  if (kind == BinaryKind::add) return mean ? "Mean" : "Sum";
  return kind == BinaryKind::min ? "Min" : "Max";
}

std::vector<TensorType> Variadic::infer(Inputs inputs) const {
  TensorType result = input_type(inputs, 0, "data_0");
  check_dtype(kind, result.dtype);
  if (mean) float_input_type(inputs, 0, "data_0");
  for (size_t i = 1; i < inputs.size(); ++i) {
    const TensorType& next = input_type(inputs, i, "data_" + std::to_string(i));
    if (next.dtype != result.dtype) {
      refuse_model("inputs of " + std::string(name(result.dtype)) + " and " + std::string(name(next.dtype)));
    }
    result.shape = broadcast(result.shape, next.shape);
  }
  return {result};
}

std::vector<HostTensor> Variadic::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  HostTensor result = *inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    result = arithmetic(kind, result, *inputs[i], broadcast(result.shape(), inputs[i]->shape()));
  }
  if (mean) {
    const auto count =
        HostTensor::from<float>(result.dtype(), {}, std::array{static_cast<float>(inputs.size())});
    result = arithmetic(BinaryKind::div, result, count, result.shape());
  }
  return {result};
}

std::shared_ptr<const Operator> make_binary(const NodeSpec& spec) {
  auto op = std::make_shared<Binary>();
  // Before opset 7 broadcasting was an attribute. Without an axis, which is refused, it was numpy's.
  if (spec.opset < 7) get_flag(*spec.attributes, "broadcast", false);
  for (const BinaryName& row : kBinaryNames) {
    if (row.type != spec.type) continue;
    op->kind = row.kind;
    break;
  }
  if (spec.type == "Mod" && get_flag(*spec.attributes, "fmod", false)) op->kind = BinaryKind::fmod;
  if (spec.type == "BitShift") {
    const std::string direction = spec.attributes->get_string("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") refuse_model("direction '" + direction + "' is unknown");
    op->kind = direction == "LEFT" ? BinaryKind::shift_left : BinaryKind::shift_right;
  }
  return op;
}

std::shared_ptr<const Operator> make_variadic(const NodeSpec& spec) {
  const bool sum = spec.type == "Sum", mean = spec.type == "Mean";
  const BinaryKind kind = sum || mean          ? BinaryKind::add
                          : spec.type == "Min" ? BinaryKind::min
                                               : BinaryKind::max;
  // The common case of two inputs is a plain Binary, which kernels and passes handle best.
  if (!mean && spec.has_input(0) && spec.has_input(1) && spec.input_present.size() == 2) {
    auto op = std::make_shared<Binary>();
    op->kind = kind;
    return op;
  }
  auto op = std::make_shared<Variadic>();
  op->kind = kind;
  op->mean = mean;
  return op;
}

}  // namespace vellum
