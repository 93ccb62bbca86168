// The nodes of a chosen branch in place of an If.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Whether `node` is an If whose condition is known.
bool has_known_branch(const Graph& graph, const Node& node);

// Adds the values of the chosen branch to `graph` and returns its nodes, in order, which compute the node's
// outputs from the node's inputs.
std::vector<Node> inline_branch(Graph& graph, const Node& node);

}  // namespace vellum
