// Activation functions. They are fused into the operator that computes their argument, or are separate
// operators (Unary).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/operators/elementwise/fixed_multiplier.hpp"

namespace vellum {

// `alpha` and `beta` are as in the ONNX operator of that name; for clip alpha is min and beta is max.
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
  float scale = 1.0f, shift = 0.0f;  // the result is scale * f(x) + shift; not for selu
  // Rounds the result as QuantizeLinear and DequantizeLinear do: to an integer multiple of `step`, ties to
  // even, of at least `least` and at most `most` steps. A step of 0: no rounding. A rounded result is not
  // scaled.
  float step = 0.0f, least = 0.0f, most = 0.0f;
  // Ties are rounded away from zero, as TFLite's QUANTIZE does; also where the sum before a residual is
  // rounded.
  bool ties_away = false;
  // For an operator with a residual: bounds of the sum before the residual is added. Equal bounds mean none.
  // Not used with a scale, nor with rounding unless the sum is rounded too.
  float sum_low = 0.0f, sum_high = 0.0f;
  // Not 0: the sum before the residual is rounded to multiples of sum_step, and sum_low and sum_high are in
  // steps, like `least` and `most`.
  float sum_step = 0.0f;
  // Not empty, with rounds_sum(): the residual is added in integers. Operand `a` is the sum, `b` the
  // residual.
  FixedPair fixed_sum = {};
  bool operator==(const Activation&) const = default;
  bool is_scaled() const { return scale != 1.0f || shift != 0.0f; }
  bool is_rounded() const { return step != 0.0f; }
  bool only_rounds() const { return is_rounded() && kind == ActivationKind::none; }
  bool bounds_sum() const { return sum_low < sum_high; }
  bool rounds_sum() const { return bounds_sum() && sum_step != 0.0f; }
  // Returns whether the activation rounds to multiples of `y_step` and otherwise only bounds its argument.
  bool bounds_steps_of(float y_step) const {
    const bool bounds =
        kind == ActivationKind::none || kind == ActivationKind::relu || kind == ActivationKind::clip;
    return bounds && is_rounded() && step == y_step;
  }
  bool adds_integers() const { return rounds_sum() && fixed_sum && bounds_steps_of(fixed_sum.y_step); }
  explicit operator bool() const {
    return kind != ActivationKind::none || is_scaled() || is_rounded() || bounds_sum();
  }
};

// Returns whether the activation is only a ReLU or a Clip.
bool is_bounds(const Activation& activation);
// Returns the Activation that computes then(first(x)); nothing if no single Activation does.
std::optional<Activation> combine(const Activation& first, const Activation& then);

// Returns `sum` clamped to the bounds sum_low and sum_high and rounded: the value to which a residual is
// added.
double bounded_sum(const Activation& activation, double sum);
// Returns bounded_sum() plus the residual, computed in integers if activation.adds_integers().
double sum_with_residual(const Activation& activation, double sum, double residual);

// Returns the name that programs print and shaders use.
std::string_view name(ActivationKind kind);
// Returns the activation of `x`.
float apply(const Activation& activation, float x);

}  // namespace vellum
