#include "graph/operators/elementwise/unary.hpp"

#include <algorithm>
#include <cmath>

#include "graph/real.hpp"

namespace vellum {

namespace {

struct UnaryName {
  std::string_view type;
  UnaryKind kind;
};

constexpr UnaryName kUnaryNames[] = {
    {"Abs", UnaryKind::abs},
    {"Neg", UnaryKind::neg},
    {"Sign", UnaryKind::sign},
    {"Exp", UnaryKind::exp},
    {"Log", UnaryKind::log},
    {"Sqrt", UnaryKind::sqrt},
    {"Floor", UnaryKind::floor},
    {"Reciprocal", UnaryKind::reciprocal},
    {"Ceil", UnaryKind::ceil},
    {"Round", UnaryKind::round},
    {"Sin", UnaryKind::sin},
    {"Cos", UnaryKind::cos},
    {"Tan", UnaryKind::tan},
    {"Asin", UnaryKind::asin},
    {"Acos", UnaryKind::acos},
    {"Atan", UnaryKind::atan},
    {"Sinh", UnaryKind::sinh},
    {"Cosh", UnaryKind::cosh},
    {"Asinh", UnaryKind::asinh},
    {"Acosh", UnaryKind::acosh},
    {"Atanh", UnaryKind::atanh},
    {"Not", UnaryKind::logical_not},
    {"IsNaN", UnaryKind::is_nan},
    {"IsInf", UnaryKind::is_inf},
    {"BitwiseNot", UnaryKind::bitwise_not},
};

// Defaults of alpha, beta and gamma are ONNX's; `attributes` lists those that the operator has.
struct ActivationName {
  std::string_view type;
  Activation activation;
  int attributes;
};

constexpr float kLowest = std::numeric_limits<float>::lowest(), kHighest = std::numeric_limits<float>::max();

constexpr ActivationName kActivationNames[] = {
    {"Relu", {ActivationKind::relu}, 0},
    {"Clip", {ActivationKind::clip, kLowest, kHighest}, 0},
    {"LeakyRelu", {ActivationKind::leaky_relu, 0.01f}, 1},
    {"Sigmoid", {ActivationKind::sigmoid}, 0},
    {"Tanh", {ActivationKind::tanh}, 0},
    {"HardSigmoid", {ActivationKind::hard_sigmoid, 0.2f, 0.5f}, 2},
    {"HardSwish", {ActivationKind::hard_swish}, 0},
    {"Elu", {ActivationKind::elu, 1.0f}, 1},
    {"Selu", {ActivationKind::selu, 1.67326319217681884765625f, 0.0f, 1.05070102214813232421875f}, 3},
    {"Celu", {ActivationKind::celu, 1.0f}, 1},
    {"Softplus", {ActivationKind::softplus}, 0},
    {"Softsign", {ActivationKind::softsign}, 0},
    {"ThresholdedRelu", {ActivationKind::thresholded_relu, 1.0f}, 1},
    {"Mish", {ActivationKind::mish}, 0},
    {"Erf", {ActivationKind::erf}, 0},
    {"Silu", {ActivationKind::silu}, 0},
    {"Gelu", {ActivationKind::gelu}, 0},
    {"Gelu", {ActivationKind::gelu_tanh}, 0},
};

template <typename T>
T round_half_to_even(T x) {
  const T floor = std::floor(x);
  const T rest = x - floor;
  if (rest < T{0.5}) return floor;
  if (rest > T{0.5}) return floor + 1;
  return std::fmod(floor, T{2}) == 0 ? floor : floor + 1;
}

template <typename T>
T float_function(UnaryKind kind, T x) {
  switch (kind) {
    case UnaryKind::abs:
      return std::fabs(x);
    case UnaryKind::neg:
      return -x;
    case UnaryKind::sign:
      return x > 0 ? T{1} : x < 0 ? T{-1} : x;
    case UnaryKind::exp:
      return std::exp(x);
    case UnaryKind::log:
      return std::log(x);
    case UnaryKind::sqrt:
      return std::sqrt(x);
    case UnaryKind::reciprocal:
      return T{1} / x;
    case UnaryKind::floor:
      return std::floor(x);
    case UnaryKind::ceil:
      return std::ceil(x);
    case UnaryKind::round:
      return round_half_to_even(x);
    case UnaryKind::sin:
      return std::sin(x);
    case UnaryKind::cos:
      return std::cos(x);
    case UnaryKind::tan:
      return std::tan(x);
    case UnaryKind::asin:
      return std::asin(x);
    case UnaryKind::acos:
      return std::acos(x);
    case UnaryKind::atan:
      return std::atan(x);
    case UnaryKind::sinh:
      return std::sinh(x);
    case UnaryKind::cosh:
      return std::cosh(x);
    case UnaryKind::asinh:
      return std::asinh(x);
    case UnaryKind::acosh:
      return std::acosh(x);
    case UnaryKind::atanh:
      return std::atanh(x);
    default:
      throw Error(ErrorCode::internal, "not a function of floating point");
  }
}

template <typename T>
T integer_function(UnaryKind kind, T x) {
  // Through unsigned, where the smallest integer has a negative: itself.
  const auto negated = static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  if (kind == UnaryKind::neg) return negated;
  if (kind == UnaryKind::bitwise_not) return static_cast<T>(~x);
  if (kind == UnaryKind::abs) return x < 0 ? negated : x;
  return static_cast<T>(x > 0 ? 1 : x < 0 ? -1 : 0);  // sign
}

bool takes_integers(UnaryKind kind, const Activation& activation) {
  return kind == UnaryKind::abs || kind == UnaryKind::neg || kind == UnaryKind::sign ||
         activation.kind == ActivationKind::relu || activation.kind == ActivationKind::clip;
}

template <typename Element>
Element activate(const Activation& activation, Element x) {
  using Wide = Widened<Element>;
  if constexpr (std::is_integral_v<Wide>) {
    if (activation.kind == ActivationKind::relu) return widen(x) < 0 ? Element{} : x;
    return std::is_same_v<Element, Bool> ? x
                                         : convert<Element>(apply(activation, static_cast<float>(widen(x))));
  } else {
    return convert<Element>(apply_real(activation, widen(x)));
  }
}

template <typename Element>
void evaluate_numeric(const Unary& op, std::span<const Element> in, std::span<Element> out) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (op.kind == UnaryKind::activation) {
      out[i] = activate(op.activation, in[i]);
    } else if constexpr (std::is_floating_point_v<Widened<Element>>) {
      out[i] = convert<Element>(float_function(op.kind, widen(in[i])));
    } else if constexpr (std::is_integral_v<Element>) {
      out[i] = integer_function(op.kind, in[i]);
    }
  }
}

HostTensor classify(const Unary& op, const HostTensor& x) {
  const HostTensor wide = cast(x, DType::f64);
  const auto in = wide.as<double>();
  HostTensor y(DType::boolean, x.shape());
  auto out = y.mutable_as<uint8_t>();
  for (size_t i = 0; i < in.size(); ++i) {
    const bool infinite = std::isinf(in[i]) && (in[i] > 0 ? op.detect_positive : op.detect_negative);
    out[i] = op.kind == UnaryKind::is_nan ? std::isnan(in[i]) : infinite;
  }
  return y;
}

}  // namespace

std::string_view Unary::type() const {
  if (kind == UnaryKind::activation) {
    for (const ActivationName& row : kActivationNames) {
      if (row.activation.kind == activation.kind) return row.type;
    }
    return activation.is_rounded() ? "FakeQuantize" : "Identity";
  }
  for (const UnaryName& row : kUnaryNames) {
    if (row.kind == kind) return row.type;
  }
  return "Unary";
}

std::vector<TensorType> Unary::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "X");
  if (kind == UnaryKind::logical_not) {
    if (x.dtype != DType::boolean) refuse_model("Not of " + std::string(name(x.dtype)) + ", expected bool");
    return {x};
  }
  if (kind == UnaryKind::bitwise_not) {
    if (is_float(x.dtype) || x.dtype == DType::boolean)
      refuse_model("BitwiseNot of " + std::string(name(x.dtype)) + ", expected integers");
    return {x};
  }
  if (takes_integers(kind, activation)) {
    if (x.dtype == DType::boolean) refuse_model(std::string(type()) + " of bool");
  } else {
    float_input_type(inputs, 0, "X");
  }
  if (kind == UnaryKind::is_nan || kind == UnaryKind::is_inf) return {{DType::boolean, x.shape}};
  return {x};
}

std::vector<HostTensor> Unary::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor& x = *inputs[0];
  if (kind == UnaryKind::is_nan || kind == UnaryKind::is_inf) return {classify(*this, x)};
  HostTensor y(type.dtype, type.shape);
  if (kind == UnaryKind::logical_not) {
    const auto in = x.as<uint8_t>();
    std::transform(in.begin(), in.end(), y.mutable_as<uint8_t>().begin(),
                   [](uint8_t value) { return static_cast<uint8_t>(value == 0); });
    return {y};
  }
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    evaluate_numeric<Element>(*this, x.as<Element>(), y.mutable_as<Element>());
  });
  return {y};
}

std::shared_ptr<const Operator> Unary::with_activation(const Activation& added) const {
  const bool takes = kind == UnaryKind::activation && !added.is_scaled();
  return takes ? copy_with_activation(*this, added) : nullptr;
}

Attributes Unary::attributes() const {
  Attributes result;
  if (kind == UnaryKind::activation) {
    if (activation.alpha != 0.0f) result.set("alpha", activation.alpha);
    if (activation.beta != 0.0f) result.set("beta", activation.beta);
    if (activation.gamma != 0.0f) result.set("gamma", activation.gamma);
    if (activation.kind == ActivationKind::gelu_tanh) result.set("approximate", std::string("tanh"));
    print_rounding(result, activation);
  }
  return result;
}

std::vector<TensorType> Clip::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.dtype == DType::boolean) refuse_model("Clip of bool");
  for (size_t i = 1; i <= 2; ++i) {
    if (!has_input(inputs, i)) continue;
    const TensorType& bound = input_type(inputs, i, i == 1 ? "min" : "max");
    if (bound.dtype != x.dtype || element_count(bound.shape) != 1) {
      refuse_model("a bound is " + to_string(bound) + ", expected one " + std::string(name(x.dtype)));
    }
  }
  return {x};
}

std::vector<HostTensor> Clip::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y = *inputs[0];
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto bound = [&](size_t i) {
      return i < inputs.size() && inputs[i] != nullptr ? inputs[i] : nullptr;
    };
    const HostTensor *low = bound(1), *high = bound(2);
    for (Element& value : y.mutable_as<Element>()) {
      // The maximum wins where the bounds cross.
      if (low && widen(value) < widen(low->as<Element>()[0])) value = low->as<Element>()[0];
      if (high && widen(value) > widen(high->as<Element>()[0])) value = high->as<Element>()[0];
    }
  });
  return {y};
}

std::optional<Activation> as_activation(const Operator& op, Inputs inputs) {
  if (const auto* unary = dynamic_cast<const Unary*>(&op)) {
    if (unary->kind == UnaryKind::activation) return unary->activation;
    return std::nullopt;
  }
  if (dynamic_cast<const Clip*>(&op) == nullptr || inputs.empty() || !is_float(inputs[0].type.dtype))
    return std::nullopt;
  Activation clip{ActivationKind::clip, kLowest, kHighest};
  for (size_t i = 1; i <= 2; ++i) {
    if (!has_input(inputs, i)) continue;
    const HostTensor* bound = inputs[i].constant;
    if (bound == nullptr || bound->elements() != 1) return std::nullopt;
    (i == 1 ? clip.alpha : clip.beta) = bound->to_floats()[0];
  }
  return clip;
}

std::shared_ptr<const Operator> make_unary(const NodeSpec& spec) {
  auto op = std::make_shared<Unary>();
  for (const UnaryName& row : kUnaryNames) {
    if (row.type == spec.type) op->kind = row.kind;
  }
  if (op->kind == UnaryKind::is_inf) {
    op->detect_positive = get_flag(*spec.attributes, "detect_positive", true);
    op->detect_negative = get_flag(*spec.attributes, "detect_negative", true);
  }
  return op;
}

std::shared_ptr<const Operator> make_fake_quantize(const NodeSpec&) {
  refuse_model("FakeQuantize is no operator of models: only a pass makes it");
}

std::shared_ptr<const Operator> make_activation(const NodeSpec& spec) {
  auto op = std::make_shared<Unary>();
  for (const ActivationName& row : kActivationNames) {
    if (row.type != spec.type) continue;
    op->activation = row.activation;
    const bool has_beta = row.attributes == 2, has_gamma = row.attributes == 3;
    if (row.attributes > 0) op->activation.alpha = spec.attributes->get_float("alpha", row.activation.alpha);
    if (has_beta) op->activation.beta = spec.attributes->get_float("beta", row.activation.beta);
    if (has_gamma) op->activation.gamma = spec.attributes->get_float("gamma", row.activation.gamma);
    break;
  }
  if (spec.type == "Selu" && spec.opset < 6) {
    op->activation.alpha = spec.attributes->get_float("alpha", 1.6732f);
    op->activation.gamma = spec.attributes->get_float("gamma", 1.0507f);
  }
  if (op->activation.kind == ActivationKind::celu && op->activation.alpha == 0.0f) refuse_model("alpha is 0");
  if (spec.type == "Gelu") {
    const std::string approximate = spec.attributes->get_string("approximate", "none");
    if (approximate != "none" && approximate != "tanh")
      refuse_model("approximate '" + approximate + "' is unknown");
    if (approximate == "tanh") op->activation.kind = ActivationKind::gelu_tanh;
  }
  return op;
}

std::shared_ptr<const Operator> make_clip(const NodeSpec& spec) {
  if (spec.opset >= 11) return std::make_shared<Clip>();
  auto op = std::make_shared<Unary>();
  op->activation = {ActivationKind::clip, spec.attributes->get_float("min", kLowest),
                    spec.attributes->get_float("max", kHighest)};
  return op;
}

}  // namespace vellum
