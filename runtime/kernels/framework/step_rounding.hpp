// The rounding to steps in shaders (round_to_steps.glsl).
#pragma once

#include <initializer_list>

#include "graph/operators/elementwise/activation.hpp"
#include "program/program.hpp"

namespace vellum {

// The steps to which a kernel rounds, and how many of them results have at most. A step of 0: no rounding.
struct StepBounds {
  float step = 0.0f, least = 0.0f, most = 0.0f;
  bool ties_away = false;
};

// Returns the steps to which the activation rounds its result.
StepBounds result_steps(const Activation& activation);

// Defines the macros for all the steps to which a shader rounds: WIDE_STEPS if the multiples of one have too
// many bits for the quick quotient, else CLOSE_STEPS if the quick quotient may be on the wrong side of a tie;
// and TIES_AWAY if ties of any are rounded away from zero. Then they are in all: the others are results in
// integers of the same TFLite model, which have no ties.
void define_steps(Dispatch& dispatch, std::initializer_list<StepBounds> all);

// Returns whether the quick quotient of round_to_steps.glsl rounds as the correctly rounded quotient does, on
// every device whose inverse has at most the error that Vulkan allows.
bool is_quick_quotient_right(const StepBounds& steps);

}  // namespace vellum
