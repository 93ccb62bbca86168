// Layers that run strip by strip, several of them at once, so that the tensors between them never exist
// whole.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "passes/tile/strips.hpp"

namespace vellum {

struct TiledGraph {
  Graph graph;
  // Per node of `graph`: the node of the whole graph of which it computes a strip, or which it is; kNone for
  // those that cut strips out of tensors and join them.
  std::vector<size_t> whole_nodes;
  // The names of values that are rows which a strip keeps for the next one.
  std::set<std::string> kept = {};
};

// Computes the nodes of `tiling` in strips: for each strip a Slice of what it needs of the graph's inputs, a
// copy of each node with other padding, and at the end a Concat of the strips of each output. Copies share
// the constants of the whole. Where an operator needs fewer rows than another one of the same strip, a Slice
// cuts them out. Rows that a node keeps for the next strip (TiledNodes::kept) are a Slice, too, which a
// Concat there puts before its own. Results are the same bit for bit if every copy is computed by the kernel
// of the whole. Follows optimise() and is no part of it. `reads`: of the whole graph.
TiledGraph tile(const AxisReads& reads, const Tiling& tiling);

}  // namespace vellum
