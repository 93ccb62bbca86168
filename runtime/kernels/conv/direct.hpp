// Direct convolutions: sum the products of each window one by one, dense or grouped (conv.comp).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
