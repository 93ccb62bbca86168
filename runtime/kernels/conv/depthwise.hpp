// Convolutions whose channels have a filter each.
#pragma once

#include "kernels/conv/window.hpp"

namespace vellum {

// For a Conv of as many groups as input and output channels.
void lower_depthwise(Lowering& lowering, const Window2d& window, const Activation& activation);

}  // namespace vellum
