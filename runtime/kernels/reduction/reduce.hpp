// Reductions, shared by the kernel files that need them.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Reduces input 0 to output 0 over the axes of `reduced` (one entry for each axis) by a function of
// reduce.glsl, with or without the reduced axes as 1 in its shape.
void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced);

// Reduces to a workspace in channels4, which has the reduced axes as 1. At most rank 4.
TensorId reduce_to_workspace(Lowering& lowering, const std::string& function,
                             const std::vector<bool>& reduced);

// Mean and variance of each plane of input 0, which is in channels4, as workspaces of (N, C, 1, 1) in
// buffers.
struct PlaneStatistics {
  TensorId mean = kNoTensor, variance = kNoTensor;
};
PlaneStatistics reduce_planes(Lowering& lowering);

}  // namespace vellum
