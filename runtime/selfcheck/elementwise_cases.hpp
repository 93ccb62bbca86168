// Small operators on single elements, for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_elementwise_operators(std::vector<SmallOperator>& list);  // of floats
void add_integer_operators(std::vector<SmallOperator>& list);

}  // namespace vellum
