// Means that a convolution takes as it stores its result: for squeeze-and-excitation, and at a classifier's
// end.
#pragma once

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes a ConvSqueezeExcite of each depthwise convolution and the SqueezeExcite that reads its result, where
// the device has the kernel for it: no dispatch takes the means from memory then. Likewise a ConvMean of each
// 1x1 convolution and the means of its pixels that alone read it. Depends on the device, so it is no pass of
// optimise(). Shapes must be known; ids of values stay.
void fuse_means(Graph& graph, const DeviceCaps& caps, Precision precision);

}  // namespace vellum
