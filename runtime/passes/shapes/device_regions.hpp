// Finds layers with data-dependent shapes that can run on the device, once a run has determined the shapes of
// their inputs.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Replaces each group of connected nodes that fits_region() accepts by a DeviceRegion, if the group has a
// layer (is_layer(), or RoiAlign). Groups never depend on each other cyclically through other nodes.
void group_layers(HostTail& tail);

}  // namespace vellum
