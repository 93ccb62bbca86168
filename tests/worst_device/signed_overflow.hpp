// Finds overflow of signed integers. Shaders get the wrapped result, as GLSL has it, but C's and Metal's
// compilers, which drivers translate shaders to, may assume that there is no overflow.
#pragma once

#include "worst_device/finding_marks.hpp"

namespace vellum::test {

// Marks sums, differences and products of signed 32-bit integers that do not fit.
void find_signed_overflow(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks);

}  // namespace vellum::test
