// A depthwise convolution that also takes the means of what it stores, and the gates of
// squeeze-and-excitation that are computed from these (shaders/conv/conv_depthwise_tile.comp, MEANS and
// GATES).
#pragma once

#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/reduction/squeeze_excite.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The operator: y = conv(X, W, B), gates = squeeze_excite(y, W1, B1, W2, B2). Its outputs are y and gates; B,
// B1 and B2 are optional.
std::shared_ptr<const FusedNodes> squeeze_excite_nodes(std::shared_ptr<const Operator> conv,
                                                       std::shared_ptr<const Operator> squeeze);

// Returns whether the device should compute the operator, whose inputs are these, with means in the
// convolution: GPUs alone, where one workgroup computes the rest.
bool gains_by_means(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                    Precision precision);

// y of a depthwise convolution, and the gates of squeeze-and-excitation whose weights are the node's inputs
// from `weights` on; in the same dispatch where the device gains by it.
void emit_depthwise_gates(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile,
                          const SqueezeExcite& op, SqueezeSizes sizes, size_t weights, TensorId y,
                          TensorId gates, const DepthwiseSource& source = {});

}  // namespace vellum
