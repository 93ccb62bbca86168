// Small operators with inputs: at least one for each family of kernels.
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

// Returns the operators. No tile size divides their sizes. Most values are in [-1, 1]. Inputs that may be
// infinite, NaN or large in a network contain such values, too.
std::vector<SmallOperator> small_operators();

}  // namespace vellum
