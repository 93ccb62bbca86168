// Small operators whose weights are integers times scales, for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

// Adds operators of the list with their weights in bytes, in 4 bits and in blocks that have scales, and with
// inputs in bytes.
void add_integer_weights(std::vector<SmallOperator>& list);

}  // namespace vellum
