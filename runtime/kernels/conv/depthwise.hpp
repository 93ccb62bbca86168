// Depthwise convolutions: one filter for each channel (conv_depthwise.comp).
#pragma once

#include <vector>

#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns candidates if there are as many groups as input and output channels. They write the node's output,
// or `y` if that is a tensor.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                                  TensorId y = kNoTensor);

// Whether the window is square and has so few taps that kernels unroll the loops over them.
bool has_unrolled_taps(const Window2d& window);
// The packed weights and bias, inputs 1 and 2 of the node, for fp32 arithmetic.
TensorId depthwise_filters(Lowering& lowering);

}  // namespace vellum
