#include "kernels/framework/step_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

constexpr float kMostSteps = 2000.0f;

bool are_wide(const StepBounds& steps) {
  return steps.step != 0.0f && std::max(-steps.least, steps.most) > kMostSteps;
}

float rounded(float quotient, const StepBounds& steps) {
  return steps.ties_away ? std::round(quotient) : std::nearbyint(quotient);
}

// Returns whether the quick quotient of v rounds as v / step. `tie`: the odd number of halves nearest to it.
bool rounds_as_quotient(float v, float tie, const StepBounds& steps) {
  // Vulkan allows a quotient an error of 2.5 units in the last place.
  constexpr double kInverseError = 0x1p-21;
  const float wanted = rounded(v / steps.step, steps);
  const double half = 0.5 * double{tie}, left = double{v} - half * double{steps.step};  // both are exact
  for (const double error : {-kInverseError, kInverseError}) {
    const auto fraction = static_cast<float>(left * ((1.0 + error) / double{steps.step}));
    if (rounded(static_cast<float>(half) + fraction, steps) != wanted) return false;
  }
  return true;
}

}  // namespace

StepBounds result_steps(const Activation& activation) {
  return {activation.step, activation.least, activation.most, activation.ties_away};
}

// Only quotients within an error of a tie can round differently: those of the floats at ties and beside them.
// Negative quotients round as positive ones.
bool is_quick_quotient_right(const StepBounds& steps) {
  // Products of the step and remainders must be normal and finite.
  if (!(steps.step > 0x1p-80f && steps.step < 0x1p80f)) return false;
  const float most = std::max(-steps.least, steps.most);
  if (most > kMostSteps) return false;
  for (float tie = 1.0f; tie < 2 * most + 2; tie += 2) {
    const float middle = 0.5f * tie * steps.step;
    float below = middle, above = middle;
    for (int i = 0; i < 3; ++i) {
      if (!rounds_as_quotient(below, tie, steps) || !rounds_as_quotient(above, tie, steps)) return false;
      below = std::nextafter(below, 0.0f);
      above = std::nextafter(above, std::numeric_limits<float>::infinity());
    }
  }
  return true;
}

void define_steps(Dispatch& dispatch, std::initializer_list<StepBounds> all) {
  const auto is_close = [](const StepBounds& steps) {
    return steps.step != 0.0f && !is_quick_quotient_right(steps);
  };
  const auto is_defined = [&](std::string_view macro) {
    return std::ranges::any_of(dispatch.defines, [&](const auto& row) { return row.first == macro; });
  };
  const bool away = std::ranges::any_of(all, &StepBounds::ties_away);
  if (away && !is_defined("TIES_AWAY")) define(dispatch, "TIES_AWAY");
  if (std::ranges::any_of(all, are_wide)) {
    if (!is_defined("WIDE_STEPS")) define(dispatch, "WIDE_STEPS");
  } else if (std::ranges::any_of(all, is_close) && !is_defined("CLOSE_STEPS")) {
    define(dispatch, "CLOSE_STEPS");
  }
}

}  // namespace vellum
