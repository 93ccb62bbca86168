// Layers of a tail that run on the device after a run has determined the shapes of their inputs.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Replaces each group of connected nodes that fit_region() by a DeviceRegion, if the group contains a layer
// (is_layer(), or RoiAlign). Groups never depend on each other cyclically through other nodes.
void group_layers(HostTail& tail);

}  // namespace vellum
