// A 1x1 convolution and the global average pool after it in one kernel, as at the end of a classifier
// (shaders/conv/conv_pointwise.comp, MEAN). The kernel stores only the means.
#pragma once

#include <memory>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes the operator y = mean over all pixels of conv(X, W, B, residual, scale). y has the shape
// (N, M, 1...). The last three inputs are optional.
std::shared_ptr<const FusedNodes> mean_nodes(std::shared_ptr<const Operator> conv);

// Returns whether the device should compute the operator with these inputs in one dispatch: it is a GPU on
// which one workgroup can compute all pixels of the image.
bool gains_by_mean(const FusedNodes& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                   Precision precision);

}  // namespace vellum
