// Convolutions whose channels have a filter each: shaders/conv_depthwise.comp.
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// For as many groups as input and output channels.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
