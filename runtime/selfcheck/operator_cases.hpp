// Small operators with inputs: at least one for each family of kernels.
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

// Returns the operators. No tile size divides their sizes. Most values are in [-1, 1]; where an operator may
// meet infinities, NaN or large numbers in a network, some are these.
std::vector<SmallOperator> small_operators();

}  // namespace vellum
