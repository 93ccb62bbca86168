// Small graphs of several elementwise functions, which one kernel computes
// (kernels/framework/fuse_elementwise.hpp), for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_functions(std::vector<SmallOperator>& list);

}  // namespace vellum
