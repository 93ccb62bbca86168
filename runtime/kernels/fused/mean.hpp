// A 1x1 convolution that stores the means of its pixels alone, as at a classifier's end
// (shaders/conv/conv_pointwise.comp, MEAN).
#pragma once

#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The operator: y = mean over all pixels of conv(X, W, B, residual, scale), of shape (N, M, 1...). The last
// three inputs are optional.
std::shared_ptr<const FusedNodes> mean_nodes(std::shared_ptr<const Operator> conv);

// Returns whether the device should compute the operator, whose inputs are these, in one dispatch: a GPU
// where a workgroup holds all pixels of the image.
bool gains_by_mean(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                   Precision precision);

}  // namespace vellum
