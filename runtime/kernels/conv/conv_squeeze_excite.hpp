// Depthwise convolutions that also take the means of what they store, for squeeze-and-excitation.
#pragma once

#include "caps/device_caps.hpp"
#include "graph/operators/conv/conv_squeeze_excite.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns whether the device has the kernel for a depthwise convolution and what follows it: GPUs alone,
// where one workgroup computes the rest.
bool takes_means(const ConvSqueezeExcite& op, const std::vector<OperatorInput>& inputs,
                 const DeviceCaps& caps, Precision precision);

}  // namespace vellum
