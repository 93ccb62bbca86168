// Groups nodes so that each group can run as one node.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace vellum::ort {

// Divides the nodes for which `taken` is true into groups of connected nodes. No path between two nodes of a
// group leaves the group, and groups do not depend on each other cyclically. Groups are in execution order.
std::vector<std::vector<size_t>> convex_groups(const Graph& graph, const std::vector<bool>& taken);

}  // namespace vellum::ort
