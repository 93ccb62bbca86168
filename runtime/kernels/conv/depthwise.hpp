// Depthwise convolutions: one filter for each channel (conv_depthwise.comp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cost/depthwise_tile.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

// The inputs of a depthwise convolution: its filters and bias are inputs `filters` and `filters` + 1 of the
// node.
struct DepthwiseSource {
  TensorId x = kNoTensor;  // none: input 0 of the node
  size_t filters = 1;
};

// Returns candidates if there are as many groups as input and output channels. They write the node's output,
// or `y` if that is a tensor.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                                  TensorId y = kNoTensor, const DepthwiseSource& source = {});

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
// The use of the means: `add` adds to the dispatch a binding that stores them, or the gates that the last
// workgroup computes from them; the other members are parameters of these gates.
struct DepthwiseMeans {
  std::function<void(Dispatch& dispatch)> add = nullptr;  // null: no means
  vec4 hidden_params{0, 0, 0, 0}, gate_params{0, 0, 0, 0};
  int64_t hidden_channels = 0, counter = 0;
};
// Invocations of a workgroup of that kernel.
int64_t means_workgroup();
// y as the node's other kernels compute it, and the means.
void emit_depthwise_means(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile, TensorId y,
                          const DepthwiseSource& source, const DepthwiseMeans& means);

// Whether the window is square and has so few taps that kernels unroll the loops over them.
bool has_unrolled_taps(const Window2d& window);
// The packed weights and bias, inputs `filters` and `filters` + 1 of the node, for fp32 arithmetic.
TensorId depthwise_filters(Lowering& lowering, size_t filters = 1);

}  // namespace vellum
