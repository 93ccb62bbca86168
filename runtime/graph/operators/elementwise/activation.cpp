#include "graph/operators/elementwise/activation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/real.hpp"

namespace vellum {

std::string_view name(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::none:
      return "none";
    case ActivationKind::relu:
      return "relu";
    case ActivationKind::clip:
      return "clip";
    case ActivationKind::leaky_relu:
      return "leaky_relu";
    case ActivationKind::sigmoid:
      return "sigmoid";
    case ActivationKind::tanh:
      return "tanh";
    case ActivationKind::hard_sigmoid:
      return "hard_sigmoid";
    case ActivationKind::hard_swish:
      return "hard_swish";
    case ActivationKind::elu:
      return "elu";
    case ActivationKind::selu:
      return "selu";
    case ActivationKind::celu:
      return "celu";
    case ActivationKind::softplus:
      return "softplus";
    case ActivationKind::softsign:
      return "softsign";
    case ActivationKind::thresholded_relu:
      return "thresholded_relu";
    case ActivationKind::silu:
      return "silu";
    case ActivationKind::gelu:
      return "gelu";
    case ActivationKind::gelu_tanh:
      return "gelu_tanh";
    case ActivationKind::mish:
      return "mish";
    case ActivationKind::erf:
      return "erf";
  }
  return "unknown";
}

namespace {

// log(1 + e^x) without overflow for large x.
template <typename Real>
Real softplus(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::fabs(x)));
}

template <typename Real>
Real sigmoid(Real x) {
  // e^-|x| cannot overflow.
  const Real e = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

template <typename Real>
Real apply_unscaled(const Activation& activation, Real x) {
  const Real alpha = activation.alpha, beta = activation.beta;
  switch (activation.kind) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return x < 0 ? Real{0} : x;
    case ActivationKind::clip:
      // If the minimum is above the maximum, the maximum wins, as in ONNX; NaN stays NaN.
      x = x < alpha ? alpha : x;
      return x > beta ? beta : x;
    case ActivationKind::leaky_relu:
      return x < 0 ? alpha * x : x;
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::hard_sigmoid:
      return std::clamp(alpha * x + beta, Real{0}, Real{1});
    case ActivationKind::hard_swish:
      return x * std::clamp(x / 6 + Real{0.5}, Real{0}, Real{1});
    case ActivationKind::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case ActivationKind::selu:
      return activation.gamma * (x > 0 ? x : alpha * std::expm1(x));
    case ActivationKind::celu:
      return std::max(Real{0}, x) + std::min(Real{0}, alpha * std::expm1(x / alpha));
    case ActivationKind::softplus:
      return softplus(x);
    case ActivationKind::softsign:
      return x / (1 + std::fabs(x));
    case ActivationKind::thresholded_relu:
      return x > alpha ? x : Real{0};
    case ActivationKind::silu:
      return x * sigmoid(x);
    case ActivationKind::gelu:
      return Real{0.5} * x * (1 + std::erf(x * static_cast<Real>(0.70710678118654752)));
    case ActivationKind::gelu_tanh:
      return Real{0.5} * x *
             (1 + std::tanh(static_cast<Real>(0.79788456080286536) *
                            (x + static_cast<Real>(0.044715) * x * x * x)));
    case ActivationKind::mish:
      return x * std::tanh(softplus(x));
    case ActivationKind::erf:
      return std::erf(x);
  }
  return x;
}

// Rounds x in fp32, in which QuantizeLinear and QUANTIZE divide. NaN becomes 0, the zero point.
float steps_of(const Activation& activation, float x) {
  const float quotient = x / activation.step;
  // nearbyint() rounds halves to even, the default rounding mode.
  const float steps = activation.ties_away ? std::round(quotient) : std::nearbyint(quotient);
  return std::clamp(std::isnan(steps) ? 0.0f : steps, activation.least, activation.most);
}

template <typename Real>
Real apply_all(const Activation& activation, Real x) {
  const Real y = apply_unscaled(activation, x);
  if (activation.is_rounded()) return steps_of(activation, static_cast<float>(y)) * activation.step;
  return activation.is_scaled() ? Real{activation.scale} * y + Real{activation.shift} : y;
}

// Rounding keeps order, so that bounds of the argument are bounds of the number of steps.
std::optional<Activation> round(const Activation& first, const Activation& rounding) {
  Activation both = rounding;
  switch (first.kind) {
    case ActivationKind::hard_sigmoid:
    case ActivationKind::selu:
      return std::nullopt;  // a kernel takes only one parameter in addition to those of the rounding
    case ActivationKind::relu:
      both.least = steps_of(rounding, 0.0f);
      return both;
    case ActivationKind::clip:
      both.least = steps_of(rounding, std::min(first.alpha, first.beta));
      both.most = steps_of(rounding, first.beta);
      return both;
    default:
      both.kind = first.kind;
      both.alpha = first.alpha;
      return both;
  }
}

// Combines two bounds. Both are monotonic, so that the result has the bounds of the first, clipped by the
// second.
Activation clip_bounds(const Activation& first, const Activation& then) {
  if (first == then) return first;
  const bool from_zero = first.kind == ActivationKind::relu;
  const float low = from_zero ? 0.0f : std::min(first.alpha, first.beta);
  const float high = from_zero ? std::numeric_limits<float>::infinity() : first.beta;
  return {ActivationKind::clip, apply_unscaled(then, low), apply_unscaled(then, high)};
}

}  // namespace

bool is_bounds(const Activation& activation) {
  return (activation.kind == ActivationKind::relu || activation.kind == ActivationKind::clip) &&
         !activation.is_scaled() && !activation.is_rounded() && !activation.bounds_sum();
}

std::optional<Activation> combine(const Activation& first, const Activation& then) {
  if (!first) return then;
  if (!then) return first;
  if (first.bounds_sum()) {
    Activation without = first;
    without.sum_low = without.sum_high = without.sum_step = 0.0f;
    without.fixed_sum = {};
    auto both = combine(without, then);
    if (!both || both->is_scaled() || (both->is_rounded() && !first.rounds_sum())) return std::nullopt;
    both->sum_step = first.sum_step;
    both->ties_away |= first.ties_away;
    both->fixed_sum = first.fixed_sum;
    both->sum_low = first.sum_low;
    both->sum_high = first.sum_high;
    return both;
  }
  if (first.is_rounded()) return std::nullopt;
  if (then.is_rounded()) {
    if (then.kind != ActivationKind::none || first.is_scaled()) return std::nullopt;
    return round(first, then);
  }
  if (is_bounds(first) && is_bounds(then)) return clip_bounds(first, then);
  if (then.kind != ActivationKind::none || first.kind == ActivationKind::selu) return std::nullopt;
  Activation both = first;
  both.scale *= then.scale;
  both.shift = both.shift * then.scale + then.shift;
  return both;
}

double bounded_sum(const Activation& activation, double sum) {
  if (!activation.bounds_sum()) return sum;
  if (activation.rounds_sum()) {
    Activation rounding;
    rounding.step = activation.sum_step;
    rounding.ties_away = activation.ties_away;
    rounding.least = activation.sum_low;
    rounding.most = activation.sum_high;
    return static_cast<double>(steps_of(rounding, static_cast<float>(sum)) * rounding.step);
  }
  const double low = activation.sum_low, high = activation.sum_high;
  return sum < low ? low : sum > high ? high : sum;
}

double sum_with_residual(const Activation& activation, double sum, double residual) {
  const double bounded = bounded_sum(activation, sum);
  const FixedPair& fixed = activation.fixed_sum;
  if (!activation.adds_integers()) return bounded + residual;
  const int32_t a = integer_of(static_cast<float>(bounded), fixed.a_step),
                b = integer_of(static_cast<float>(residual), fixed.b_step);
  return static_cast<double>(static_cast<float>(add_integers(a, b, fixed)) * fixed.y_step);
}

float apply(const Activation& activation, float x) { return apply_all(activation, x); }

double apply_in_double(const Activation& activation, double x) { return apply_all(activation, x); }

}  // namespace vellum
