// Passes an activation function to a shader (activation.glsl).
#pragma once

#include "graph/operators/elementwise/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Defines the shader's ACTIVATION macro. Every kernel that includes activation.glsl needs it, also for
// `none`.
void define_activation(Dispatch& dispatch, const Activation& activation);

// Defines FIXED_PAIR and the fields of shaders/common/fixed_point.glsl, but not the step of the first
// operand.
void append_fixed_pair(Dispatch& dispatch, const FixedPair& pair);

// Returns the value of the shader's field `vec4 activation_params`.
vec4 activation_params(const Activation& activation);

// Define the macro, and return the parameters, for kernels that are slow to compile: no activation, Relu and
// Clip share one shader variant.
void define_activation_or_bounds(Dispatch& dispatch, const Activation& activation,
                                 const std::string& macro = "ACTIVATION");
vec4 activation_params_or_bounds(const Activation& activation);

}  // namespace vellum
