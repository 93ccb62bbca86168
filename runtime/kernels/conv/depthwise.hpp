// Depthwise convolutions: one filter for each channel (conv_depthwise.comp).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns candidates if there are as many groups as input and output channels.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
