// A depthwise convolution that also computes the means of its output channels, and the gates of
// squeeze-and-excitation from these means (shaders/conv/conv_depthwise_tile.comp, MEANS and GATES).
#pragma once

#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes the operator with two outputs: y = conv(X, W, B) and gates = squeeze_excite(y, W1, B1, W2, B2). B, B1
// and B2 are optional.
std::shared_ptr<const FusedNodes> squeeze_excite_nodes(std::shared_ptr<const Operator> conv,
                                                       std::shared_ptr<const Operator> squeeze);

// Returns whether the convolution should compute the means on the device, for an operator with these inputs:
// only on GPUs, and if one workgroup is fast enough for the gates.
bool gains_by_means(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                    Precision precision);

// Emits a depthwise convolution `y`, and the gates of squeeze-and-excitation, whose weights and biases are
// four inputs of the node from `weights` on. The gates are computed in the same dispatch if the device gains
// by it.
void emit_depthwise_gates(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile,
                          const SqueezeExcite& op, SqueezeSizes sizes, size_t weights, TensorId y,
                          TensorId gates, const DepthwiseSource& source = {});

}  // namespace vellum
