// Depthwise convolutions: one filter for each channel (conv_depthwise.comp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cost/depthwise_tile.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

// The inputs of a depthwise convolution within a node.
struct DepthwiseSource {
  TensorId x = kNoTensor;  // kNoTensor: input 0 of the node
  size_t filters = 1;      // the node's input with the filters; the bias is the next input
};

// Returns the candidates for a depthwise convolution: as many groups as input and output channels. They write
// `y`, or the node's output 0 if `y` is kNoTensor.
std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                                  TensorId y = kNoTensor, const DepthwiseSource& source = {});

// Returns the problem of a depthwise convolution that is a part of a fused node.
ConvProblem depthwise_problem(int64_t images, int64_t channels, const Window2d& window,
                              const Activation& activation, Precision precision);

// A tile of the depthwise kernel that also computes means of the pixels that it stores. Each workgroup stores
// a scaled sum of its pixels for each channel; the mean of a channel is the average of its `parts` sums.
struct MeansTile {
  PixelTile tile;
  int64_t parts = 1;  // workgroups for each slice of an image
  // Whether the device gains by computing means in the convolution.
  bool pays = false;
};
// Returns nothing if the kernel does not unroll the window (has_unrolled_taps()).
std::optional<MeansTile> means_tile(const ConvProblem& problem, const DeviceCaps& caps);
// The use of the means in a depthwise kernel.
struct DepthwiseMeans {
  // Adds to the dispatch a binding that stores the means, or the gates of squeeze-and-excitation that the
  // last workgroup computes from them. Null: the kernel computes no means.
  std::function<void(Dispatch& dispatch)> add = nullptr;
  // Parameters of the gates.
  vec4 hidden_params{0, 0, 0, 0}, gate_params{0, 0, 0, 0};
  int64_t hidden_channels = 0, counter = 0;
};
// Returns the invocations of a workgroup of the kernel with means.
int64_t means_workgroup();

// Emits the kernel with means: computes `y` and the means.
void emit_depthwise_means(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile, TensorId y,
                          const DepthwiseSource& source, const DepthwiseMeans& means);

// Returns whether kernels unroll the loops over the window's taps: 3x3 or 5x5, stride at most 2, dilation 1.
bool has_unrolled_taps(const Window2d& window);

// Returns the packed filters (the node's input `input`) and bias (the next input), for fp32 arithmetic: in
// bytes if byte_weights() finds them.
TensorId depthwise_filters(Lowering& lowering, size_t input = 1);
// Defines the macro of a fused kernel for filters in bytes.
void define_filters(const Lowering& lowering, Dispatch& dispatch, TensorId filters);

}  // namespace vellum
