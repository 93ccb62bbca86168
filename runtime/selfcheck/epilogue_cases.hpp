// Small operators with an elementwise function of their results, which one kernel computes
// (kernels/framework/fuse_epilogues.hpp), for small_operators().
#pragma once

#include <vector>

#include "selfcheck/small_operator.hpp"

namespace vellum {

void add_epilogues(std::vector<SmallOperator>& list);

}  // namespace vellum
