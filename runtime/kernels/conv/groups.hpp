// Convolutions whose groups are not of whole slices of four channels: shaders/conv_groups.comp.
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// None where the groups are of whole slices, for which conv.comp multiplies nothing in vain, or where too
// many channels are in one block.
std::vector<KernelCandidate> group_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
