// Activation functions: fused into the operator that computes their argument, or operators of their own
// (Unary).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vellum {

// `alpha` and `beta` as in the ONNX operator of the name; clip: alpha = min, beta = max.
enum class ActivationKind : uint8_t {
  none,
  relu,
  clip,
  leaky_relu,
  sigmoid,
  tanh,
  hard_sigmoid,
  hard_swish,
  elu,
  selu,
  celu,
  softplus,
  softsign,
  thresholded_relu,
  silu,
  gelu,
  gelu_tanh,
  mish,
  erf
};

struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0.0f, beta = 0.0f;
  float gamma = 0.0f;                // selu only
  float scale = 1.0f, shift = 0.0f;  // of the result, scale * f(x) + shift; selu has none
  // The result as QuantizeLinear and DequantizeLinear leave it: the nearest integer number of steps, half to
  // even, at least `least` and at most `most`. A step of 0: not rounded. A rounded result is not scaled.
  float step = 0.0f, least = 0.0f, most = 0.0f;
  // Of an operator with a residual: bounds of the sum that the residual is added to. None where they are
  // equal. A scaled or rounded activation has none.
  float sum_low = 0.0f, sum_high = 0.0f;
  bool operator==(const Activation&) const = default;
  bool is_scaled() const { return scale != 1.0f || shift != 0.0f; }
  bool is_rounded() const { return step != 0.0f; }
  bool bounds_sum() const { return sum_low < sum_high; }
  explicit operator bool() const {
    return kind != ActivationKind::none || is_scaled() || is_rounded() || bounds_sum();
  }
};

// Whether it is a ReLU or a Clip, and nothing else.
bool is_bounds(const Activation& activation);
// Returns the Activation that computes then(first(x)); nothing if no single Activation does.
std::optional<Activation> combine(const Activation& first, const Activation& then);

// Returns what a residual is added to: `sum`, within the activation's bounds of it.
double bounded_sum(const Activation& activation, double sum);

std::string_view name(ActivationKind kind);
float apply(const Activation& activation, float x);

}  // namespace vellum
