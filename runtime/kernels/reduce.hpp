// Reductions, for every kernel file that amounts to one.
#pragma once

#include <string>
#include <vector>

#include "kernels/lowering.hpp"

namespace vellum {

// Output 0 is input 0 reduced over the axes of `reduced` (one entry per axis) by a function of
// shaders/reduce.glsl, with or without the reduced axes as 1 in its shape.
void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced);

}  // namespace vellum
