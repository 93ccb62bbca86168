// A product in channels4 (a 1x1 convolution or a Gemm) and the normalisation of its channels in one kernel
// (shaders/conv/norm_of_pixels.glsl), as in transformers: the sum of a block's product and its residual, and
// the LayerNormalization that the next block begins with.
#pragma once

#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes the operator with the inputs X, W, B, residual, scale and bias of the normalisation, of which B, the
// residual and the bias are optional. layer = product(X, W, B, residual), y = norm(layer, scale, bias). Its
// outputs are y and, with `keeps_layer`, the layer. `product`: a Conv or a Gemm; `norm`: a LayerNormalization
// or a ChannelNormalization.
std::shared_ptr<const FusedNodes> norm_nodes(std::shared_ptr<const Operator> product,
                                             std::shared_ptr<const Operator> norm, bool keeps_layer);

// Returns whether the device should compute the operator with these inputs in one dispatch: it is a GPU, on
// which that is predicted to be quicker than two.
bool gains_by_norm(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                   Precision precision);

}  // namespace vellum
