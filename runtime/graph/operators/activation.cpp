#include "graph/operators/activation.hpp"

#include <algorithm>
#include <cmath>

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
float softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }

float sigmoid(float x) {
  // e^-|x| cannot overflow.
  const float e = std::exp(-std::fabs(x));
  return x >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

float apply_unscaled(const Activation& activation, float x) {
  const float alpha = activation.alpha, beta = activation.beta;
  switch (activation.kind) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return x < 0.0f ? 0.0f : x;
    case ActivationKind::clip:
      // As in ONNX: the maximum wins where the bounds cross; NaN stays.
      x = x < alpha ? alpha : x;
      return x > beta ? beta : x;
    case ActivationKind::leaky_relu:
      return x < 0.0f ? alpha * x : x;
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::hard_sigmoid:
      return std::clamp(alpha * x + beta, 0.0f, 1.0f);
    case ActivationKind::hard_swish:
      return x * std::clamp(x / 6.0f + 0.5f, 0.0f, 1.0f);
    case ActivationKind::elu:
      return x < 0.0f ? alpha * std::expm1(x) : x;
    case ActivationKind::selu:
      return activation.gamma * (x > 0.0f ? x : alpha * std::expm1(x));
    case ActivationKind::celu:
      return std::max(0.0f, x) + std::min(0.0f, alpha * std::expm1(x / alpha));
    case ActivationKind::softplus:
      return softplus(x);
    case ActivationKind::softsign:
      return x / (1.0f + std::fabs(x));
    case ActivationKind::thresholded_relu:
      return x > alpha ? x : 0.0f;
    case ActivationKind::silu:
      return x * sigmoid(x);
    case ActivationKind::gelu:
      return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
    case ActivationKind::gelu_tanh:
      return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case ActivationKind::mish:
      return x * std::tanh(softplus(x));
    case ActivationKind::erf:
      return std::erf(x);
  }
  return x;
}

}  // namespace

std::optional<Activation> combine(const Activation& first, const Activation& then) {
  if (!first) return then;
  if (!then) return first;
  if (then.kind != ActivationKind::none || first.kind == ActivationKind::selu) return std::nullopt;
  Activation both = first;
  both.scale *= then.scale;
  both.shift = both.shift * then.scale + then.shift;
  return both;
}

float apply(const Activation& activation, float x) {
  const float y = apply_unscaled(activation, x);
  return activation.is_scaled() ? activation.scale * y + activation.shift : y;
}

}  // namespace vellum
