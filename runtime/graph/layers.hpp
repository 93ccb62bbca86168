// Which operators are layers of networks, as opposed to arithmetic on a few boxes.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Convolutions, attention and products with many weights, also in the graphs of an If or a Loop: on the host
// they would take seconds.
bool is_layer(const Graph& graph, const Node& node);

}  // namespace vellum
