// Infers types of nodes whose inputs have dimensions that only a run determines.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Returns the types of the node's outputs, in which kUnknownDim is a dimension that the types of its inputs
// do not determine. Returns nothing if not even the number of dimensions is known.
std::vector<TensorType> open_types(const Graph& graph, const Node& node);

}  // namespace vellum
