// Direct convolutions, dense or grouped: an invocation sums the products of its windows (conv.comp).
#pragma once

#include <functional>
#include <vector>

#include "kernels/conv/problem.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {

// A function that returns the values of a weight grid for the node. Null: conv_values().
using ConvValuesOf = std::function<WeightValues(const Lowering& lowering, const ConvWeights& grid)>;

// Returns the candidates of conv.comp for every problem. `values`: the weights.
std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               const ConvValuesOf& values = nullptr);

}  // namespace vellum
