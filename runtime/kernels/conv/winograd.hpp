// Winograd convolutions (Lavin and Gray, arXiv 1509.09308): F(2x2, 3x3) and F(4x4, 3x3).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns candidates for 3x3 windows of stride and dilation 1 without groups, if the options allow Winograd,
// the device can run the kernels and they may be competitive. A candidate has three dispatches:
//
//   x --winograd_input--> transformed tiles --winograd_product--> products --winograd_output--> y
std::vector<KernelCandidate> winograd_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
