#include "kernels/activation.hpp"

#include <string>

namespace vellum {

void define_activation(Dispatch& dispatch, const Activation& activation) {
  dispatch.defines.emplace_back("ACTIVATION", std::string(name(activation.kind)));
}

void push_activation(PushConstants& constants, const Activation& activation) {
  constants.floats({activation.alpha, activation.beta, activation.gamma, 0.0f});
}

}  // namespace vellum
