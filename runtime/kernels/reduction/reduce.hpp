// Reductions, shared by the kernel files that need them.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Reduces input 0 to output 0 over the axes that `reduced` marks (one entry for each axis). `function`: a
// function of reduce.glsl. Output 0 may keep the reduced axes as dimensions of 1 or lack them.
void reduce(Lowering& lowering, const std::string& function, const std::vector<bool>& reduced);

// Reduces input 0 to a workspace in channels4, in which reduced axes are dimensions of 1. Rank 4 at most.
TensorId reduce_to_workspace(Lowering& lowering, const std::string& function,
                             const std::vector<bool>& reduced);

// Mean and variance of each plane: workspaces of shape (N, C, 1, 1) in buffers.
struct PlaneStatistics {
  TensorId mean = kNoTensor, variance = kNoTensor;
};
// Computes the statistics of input 0, which must be in channels4.
PlaneStatistics reduce_planes(Lowering& lowering);

}  // namespace vellum
