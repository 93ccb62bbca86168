// The share of its first input that a strip reads.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Returns the share of the rows of input 0, from 0 to 1, that a Conv, ConvTranspose, Pool or Resize reads: a
// strip may read some rows of a larger tensor in place. Returns 1 for any other node.
double share_of_rows_read(const Graph& graph, const Node& node);

}  // namespace vellum
