// Depthwise separable convolutions in one kernel, where the device gains by it.
#pragma once

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes a SeparableConv of each depthwise convolution and the 1x1 convolution that alone reads its result,
// where the device's policy predicts that one kernel takes less time than two: the tensor between them is not
// stored. Depends on the device, so it is no pass of optimise(). Shapes must be known; ids of values stay.
void fuse_separable(Graph& graph, const DeviceCaps& caps, Precision precision);

}  // namespace vellum
