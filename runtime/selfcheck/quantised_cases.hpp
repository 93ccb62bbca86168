// Operators of quantised models for the self-check.
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_quantised_operators(std::vector<SmallOperator>& list);

}  // namespace vellum
