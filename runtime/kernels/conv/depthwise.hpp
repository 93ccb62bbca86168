// Depthwise convolutions: one filter for each channel (conv_depthwise.comp).
#pragma once

#include <optional>
#include <vector>

#include "caps/device_policy.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

// Returns candidates if there are as many groups as input and output channels. They write the node's output,
// or `y` if that is a tensor.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                                  TensorId y = kNoTensor);

// A depthwise convolution of all `channels` that is no Conv of its own.
ConvProblem depthwise_problem(int64_t images, int64_t channels, const Window2d& window,
                              const Activation& activation, Precision precision);

// The kernel that also computes means of what it stores: `parts` for each channel, with equal weights.
struct MeansTile {
  PixelTile tile;
  int64_t parts = 1;  // workgroups for each slice of an image
  // Whether the device gains by it: no CPU, and few invocations of the workgroups idle.
  bool pays = false;
};
// Nothing for windows whose taps are not unrolled.
std::optional<MeansTile> means_tile(const ConvProblem& problem, const DeviceCaps& caps);
// y as the node's other kernels compute it, and means of shape (N, C, 1, parts).
void emit_depthwise_means(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile, TensorId y,
                          TensorId means);

// Whether the window is square and has so few taps that kernels unroll the loops over them.
bool has_unrolled_taps(const Window2d& window);
// The packed weights and bias, inputs 1 and 2 of the node, for fp32 arithmetic.
TensorId depthwise_filters(Lowering& lowering);

}  // namespace vellum
