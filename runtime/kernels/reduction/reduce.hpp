// Reductions, for every kernel file that amounts to one.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Output 0 is input 0 reduced over the axes of `reduced` (one entry per axis) by a function of
// shaders/reduce.glsl, with or without the reduced axes as 1 in its shape.
void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced);

// The same into a workspace of channels4, which has the reduced axes as 1. Rank 4 at most.
TensorId reduce_to_workspace(Lowering& lowering, const std::string& function,
                             const std::vector<bool>& reduced);

}  // namespace vellum
