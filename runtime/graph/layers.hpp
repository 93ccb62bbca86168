// Distinguishes layers of a network from arithmetic on a few boxes.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Returns whether a node is a convolution, attention or a product with many weights, or an If or Loop that
// contains such nodes. The host would take seconds for them.
bool is_layer(const Graph& graph, const Node& node);

}  // namespace vellum
