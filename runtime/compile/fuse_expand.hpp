// A 1x1 convolution and the depthwise convolution after it in one kernel, where the device gains by it.
#pragma once

#include <optional>

#include "caps/device_caps.hpp"
#include "cost/fused_layers.hpp"
#include "graph/graph.hpp"
#include "passes/rewrite/match.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Makes an ExpandConv of each depthwise convolution, with its squeeze-and-excitation where fuse_means() made
// one operator of both, and the 1x1 convolution before it whose result nothing else reads, where the device's
// policy predicts that one kernel takes less time than two. Call it after fuse_separable() and fuse_means().
// Depends on the device, so it is no pass of optimise(). Shapes must be known; ids of values stay.
void fuse_expand(Graph& graph, const DeviceCaps& caps, Precision precision);

// The demand of the ExpandConv that fuse_expand() could make of the depthwise convolution at `index`; nothing
// where there is none.
std::optional<ExpandDemand> demand_of_both(const GraphEditor& editor, size_t index, Precision precision);

}  // namespace vellum
