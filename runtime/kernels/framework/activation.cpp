#include "kernels/framework/activation.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/step_rounding.hpp"

namespace vellum {
namespace {

// Returns the steps to which the sum before a residual is rounded.
StepBounds steps_of_sum(const Activation& activation) {
  if (!activation.rounds_sum()) return {};
  return {activation.sum_step, activation.sum_low, activation.sum_high, activation.ties_away};
}

void define(Dispatch& dispatch, const std::string& macro, std::string_view variant,
            const Activation& activation) {
  define_steps(dispatch, {result_steps(activation), steps_of_sum(activation)});
  dispatch.defines.emplace_back(macro, (activation.is_rounded() ? "rounded_" : "") + std::string(variant));
  if (activation.is_scaled()) dispatch.defines.emplace_back(macro + "_SCALED", "1");
  if (activation.rounds_sum()) {
    dispatch.defines.emplace_back("SUM_ROUNDED", "1");
    dispatch.appended.insert(dispatch.appended.end(), {{"sum_step", activation.sum_step},
                                                       {"sum_least", activation.sum_low},
                                                       {"sum_most", activation.sum_high}});
    if (activation.adds_integers()) append_fixed_pair(dispatch, activation.fixed_sum);
  } else if (activation.bounds_sum()) {
    dispatch.defines.emplace_back("SUM_BOUNDS", "1");
  }
}

bool is_bounds_or_none(const Activation& activation) {
  const ActivationKind kind = activation.kind;
  return !activation.is_rounded() &&
         (kind == ActivationKind::none || kind == ActivationKind::relu || kind == ActivationKind::clip);
}

}  // namespace

void append_fixed_pair(Dispatch& dispatch, const FixedPair& pair) {
  const auto byte = [](int32_t shift) { return static_cast<uint32_t>(shift) & 255u; };
  const uint32_t shifts =
      byte(pair.a.shift) | byte(pair.b.shift) << 8 | byte(pair.y.shift) << 16 | byte(pair.sum_shift) << 24;
  dispatch.defines.emplace_back("FIXED_PAIR", "1");
  dispatch.appended.insert(dispatch.appended.end(), {{"fixed_b_step", pair.b_step},
                                                     {"fixed_a", pair.a.multiplier},
                                                     {"fixed_b", pair.b.multiplier},
                                                     {"fixed_y", pair.y.multiplier},
                                                     {"fixed_shifts", static_cast<int32_t>(shifts)}});
}

void define_activation(Dispatch& dispatch, const Activation& activation) {
  define(dispatch, "ACTIVATION", name(activation.kind), activation);
}

void define_activation_or_bounds(Dispatch& dispatch, const Activation& activation, const std::string& macro) {
  define(dispatch, macro, is_bounds_or_none(activation) ? "bounds" : name(activation.kind), activation);
}

vec4 activation_params(const Activation& activation) {
  if (activation.is_rounded()) return {activation.alpha, activation.least, activation.most, activation.step};
  if (activation.bounds_sum())
    return {activation.alpha, activation.beta, activation.sum_low, activation.sum_high};
  const float third = activation.is_scaled() ? activation.scale : activation.gamma;
  return {activation.alpha, activation.beta, third, activation.shift};
}

namespace {

// Returns the activation with its bounds in alpha and beta; alpha > beta stands for no bounds. The lower
// bound of a Clip may be above its upper bound: then the upper bound wins, as in ONNX.
Activation as_bounds(const Activation& activation) {
  Activation bounds = activation;
  if (!is_bounds_or_none(activation)) return bounds;
  if (activation.kind == ActivationKind::none) {
    bounds.alpha = 1;
    bounds.beta = 0;
  } else if (activation.kind == ActivationKind::relu) {
    bounds.alpha = 0;
    bounds.beta = std::numeric_limits<float>::infinity();
  } else if (activation.kind == ActivationKind::clip) {
    bounds.alpha = std::min(activation.alpha, activation.beta);
  }
  return bounds;
}

}  // namespace

vec4 activation_params_or_bounds(const Activation& activation) {
  return activation_params(as_bounds(activation));
}

}  // namespace vellum
