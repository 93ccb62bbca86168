// Layers of a tail that run on the device once a run has told the shapes of what they read.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Puts a DeviceRegion in the place of each group of connected nodes with a layer in it (is_layer(), and
// RoiAlign) that fits_region(). Groups do not read each other's results by way of other nodes and the other
// way round.
void group_layers(HostTail& tail);

}  // namespace vellum
