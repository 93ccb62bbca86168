// Direct convolutions, dense or grouped: an invocation sums the products of its windows (conv.comp).
#pragma once

#include <functional>
#include <vector>

#include "kernels/conv/problem.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {

// The weights of a node that is not one convolution.
struct FusedConvWeights {
  // Returns the weights as 8-bit weights, or null.
  std::function<ByteWeightsPointer(const Lowering& lowering)> bytes;
  // Returns the values of a weight grid for the node. Null: the weights are those of a convolution.
  std::function<WeightValues(const Lowering& lowering, const ConvWeights& grid)> values;
};

// Returns the candidates of conv.comp for every problem.
std::vector<KernelCandidate> direct_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               const FusedConvWeights& fused = {});

}  // namespace vellum
