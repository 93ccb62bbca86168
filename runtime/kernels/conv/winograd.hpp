// Winograd convolutions: 3x3 with fewer multiplications, F(2x2, 3x3) and F(4x4, 3x3).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns candidates for 3x3 windows of stride and dilation 1 without groups, if the options allow it, the
// device can run them and they are not hopelessly slow. Three dispatches: winograd_input.comp,
// winograd_product.comp, winograd_output.comp.
std::vector<KernelCandidate> winograd_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
