// Finds layers with data-dependent shapes that can run on the device, once a run has determined the shapes of
// their inputs.
#pragma once

#include <functional>
#include <span>

#include "graph/graph.hpp"

namespace vellum {

// Which nodes become a DeviceRegion.
struct RegionRules {
  std::function<bool(const Graph&, const Node&)> fits;
  // Whether a group of connected nodes, by their indices, is worth a region.
  std::function<bool(const Graph&, std::span<const size_t>)> is_worthwhile;
  // The inputs that nodes of the graph compute have data-dependent shapes (DeviceRegion::is_late).
  bool has_late_shapes = true;
};

// Replaces each group of connected nodes by a DeviceRegion. Groups never depend on each other cyclically
// through other nodes.
void group_nodes(Graph& graph, const RegionRules& rules);

// Replaces each group of connected nodes that fits_region() accepts by a DeviceRegion, if the group has a
// layer (is_layer(), or RoiAlign).
void group_layers(HostTail& tail);

}  // namespace vellum
