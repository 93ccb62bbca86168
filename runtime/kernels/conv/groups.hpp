// Grouped convolutions whose groups are not whole slices of four channels (conv_groups.comp).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns no candidates if the groups are whole slices, for which conv.comp multiplies no unnecessary zeros,
// or if a block has too many channels.
std::vector<KernelCandidate> group_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace vellum
