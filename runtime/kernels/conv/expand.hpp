// A 1x1 convolution and the depthwise convolution after it in one kernel (shaders/conv/conv_expand.comp).
#pragma once

#include <vector>

#include "cost/fused_layers.hpp"
#include "graph/operators/conv/expand_conv.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Whether the device should compute the operator, whose inputs are these, in one kernel: where that is
// predicted to take less time than kernels of its own for each layer, and with squeeze-and-excitation where a
// workgroup computes the gates.
bool is_for_one_kernel(const ExpandConv& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                       Precision precision);

// The operator as the policy's model sees it.
ExpandDemand expand_demand(const ExpandConv& op, const std::vector<OperatorInput>& inputs,
                           Precision precision);

}  // namespace vellum
