// 3x3 convolutions with fewer multiplications: Winograd's F(2x2, 3x3) and F(4x4, 3x3).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// For 3x3 windows of stride and dilation 1 without groups, where options allow it, the device can and it is
// not hopelessly slow. Three dispatches: shaders/winograd_input.comp, winograd_product.comp,
// winograd_output.comp.
std::vector<KernelCandidate> winograd_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
