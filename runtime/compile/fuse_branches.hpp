// Two convolutions of one input whose results are concatenated, in one kernel where the device gains by it.
#pragma once

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes one Conv of a 1x1 convolution, a 3x3 convolution of the same input and the Concat of both (a fire
// module: Iandola et al., SqueezeNet, arXiv 1602.07360, section 3.2): its first channels have a window of one
// pixel (Conv::narrow_outputs). Depends on the device, so it is no pass of optimise(). Shapes must be known;
// ids of values stay.
void fuse_branches(Graph& graph, const DeviceCaps& caps, Precision precision);

}  // namespace vellum
