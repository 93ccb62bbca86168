// How much of its first input a strip reads.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Returns the share of the rows of input 0 that a Conv, ConvTranspose, Pool or Resize reads, 0 to 1: a strip
// may read some rows of a tensor in place. 1 for any other node.
double share_of_rows_read(const Graph& graph, const Node& node);

}  // namespace vellum
