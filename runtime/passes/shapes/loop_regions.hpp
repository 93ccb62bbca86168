// Finds layers in the iterations of a Loop that can run on the device.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// In the bodies of the tail's Loops, replaces groups of connected nodes that compute much by a DeviceRegion.
// The shapes of their tensors are the same in each iteration.
void group_loop_layers(HostTail& tail);

}  // namespace vellum
