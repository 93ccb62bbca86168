// Convolutions with windows of several pixels, dense or of groups.
#pragma once

#include "kernels/conv/window.hpp"

namespace vellum {

// For a Conv that is neither depthwise nor scales its input: by Winograd's tiles, matrices or directly,
// whichever should be the quickest.
void lower_dense(Lowering& lowering, const Window2d& window, int64_t groups, const Activation& activation);

}  // namespace vellum
