// Activation functions: fused into the operator that computes their argument, or operators of their own
// (Unary).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vellum {

// `alpha` and `beta` as in the ONNX operator of the name; clip: alpha = min, beta = max.
enum class ActivationKind : uint8_t {
  none, relu, clip, leaky_relu, sigmoid, tanh, hard_sigmoid, hard_swish, elu, selu, celu, softplus, softsign,
  thresholded_relu, silu, gelu, gelu_tanh, mish, erf
};

struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0.0f, beta = 0.0f;
  float gamma = 0.0f;                // selu only
  float scale = 1.0f, shift = 0.0f;  // of the result, scale * f(x) + shift; selu has none
  bool operator==(const Activation&) const = default;
  bool is_scaled() const { return scale != 1.0f || shift != 0.0f; }
  explicit operator bool() const { return kind != ActivationKind::none || is_scaled(); }
};

// Returns the Activation that computes then(first(x)); nothing if no single Activation does.
std::optional<Activation> combine(const Activation& first, const Activation& then);

std::string_view name(ActivationKind kind);
float apply(const Activation& activation, float x);

}  // namespace vellum
