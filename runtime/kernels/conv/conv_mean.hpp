// 1x1 convolutions that store the means of their pixels alone (shaders/conv/conv_pointwise.comp, MEAN).
#pragma once

#include "graph/operators/conv/conv_mean.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Whether the device should compute the operator, whose inputs are these, in one dispatch: a GPU where a
// workgroup holds all pixels of the image.
bool takes_mean(const ConvMean& op, const std::vector<OperatorInput>& inputs, const DeviceCaps& caps,
                Precision precision);

}  // namespace vellum
