// Makes a graph of a single node, to measure the node or to compute it on the host.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct OneNode {
  Graph graph;
  std::vector<ValueId> values;  // for each value of `graph`, its id in the network
};

// Returns a graph with the node and its constants. The node's other inputs become inputs of the graph, each
// once, and its outputs become outputs.
OneNode one_node(const Graph& network, const Node& node);

}  // namespace vellum
