// Direct convolutions: sum the products of each window one by one, dense or grouped (conv.comp).
#pragma once

#include <functional>
#include <vector>

#include "kernels/conv/problem.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {

// The texels of a grid of weights, of inputs of the node: conv_values() with its default.
using ConvValuesOf = std::function<WeightValues(const Lowering& lowering, const ConvWeights& grid)>;
std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               const ConvValuesOf& values = nullptr);

}  // namespace vellum
