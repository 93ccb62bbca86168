// Small operators that move elements, for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_movement_operators(std::vector<SmallOperator>& list);

}  // namespace vellum
