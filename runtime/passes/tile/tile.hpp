// Runs several consecutive layers strip by strip, so that the tensors between them never exist as a whole.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "passes/tile/strips.hpp"

namespace vellum {

// A graph whose layers run in strips.
struct TiledGraph {
  Graph graph;
  // Per node of `graph`: the corresponding node of the whole graph; kNone for nodes that cut strips out of
  // tensors or join them.
  std::vector<size_t> whole_nodes;
  // The names of values that hold rows which a strip keeps for the next one.
  std::set<std::string> kept = {};
};

// Returns the graph with the nodes of `tiling` in strips. Each strip has a Slice of each tensor that it reads
// from outside and a copy of each node with adapted padding; at the end a Concat joins the strips of each
// output. Copies share constants. If an operator needs fewer rows than another of the same strip, a Slice
// selects them. Rows that a node keeps for the next strip (TiledNodes::kept) are selected by a Slice, and a
// Concat prepends them to the next strip's rows. Results are the same bit for bit if every copy is computed
// by the kernel of the whole layer. Runs after optimise() and is not one of its passes. `reads`: of the whole
// graph.
TiledGraph tile(const AxisReads& reads, const Tiling& tiling);

}  // namespace vellum
