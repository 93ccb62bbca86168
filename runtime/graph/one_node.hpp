// A node of a graph as a graph of its own: to measure it, or to compute it on the host.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct OneNode {
  Graph graph;
  std::vector<ValueId> values;  // for each value of `graph`, its id in the network
};

// The node with its constants. Its other inputs and its outputs become those of the graph, each once.
OneNode one_node(const Graph& network, const Node& node);

}  // namespace vellum
