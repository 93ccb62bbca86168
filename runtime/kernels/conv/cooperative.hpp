// Convolutions and matrix products by cooperative matrices.
#pragma once

#include <vector>

#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

// For windows of several pixels without groups (pointwise.hpp has those of one pixel).
std::vector<KernelCandidate> cooperative_candidates(const ConvProblem& problem, const DeviceCaps& caps);

// y = activation(conv(x) + bias + residual) in fp16 and channels4. `weights` is without groups.
void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const Window2d& window, const Activation& activation,
                          WeightValues values, const ConvExtras& extras);

}  // namespace vellum
