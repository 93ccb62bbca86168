// Convolutions that sum up the products of their windows one by one, dense or of groups: shaders/conv.comp.
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
