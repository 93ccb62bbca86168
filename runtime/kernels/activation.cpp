#include "kernels/activation.hpp"

#include <string>

namespace vellum {

void define_activation(Dispatch& dispatch, const Activation& activation) {
  dispatch.defines.emplace_back("ACTIVATION", std::string(name(activation.kind)));
  if (activation.is_scaled()) dispatch.defines.emplace_back("ACTIVATION_SCALED", "1");
}

void push_activation(PushConstants& constants, const Activation& activation) {
  const float third = activation.is_scaled() ? activation.scale : activation.gamma;
  constants.floats({activation.alpha, activation.beta, third, activation.shift});
}

}  // namespace vellum
