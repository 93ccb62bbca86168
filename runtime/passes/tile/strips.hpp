// Consecutive nodes of a graph that run strip by strip: a strip is some rows of every tensor between them.
//
//   image   conv    conv    pool            Each strip of the last output needs more rows of the tensors
//   before
//   ......                                  it: the halo, which is computed again in the next strip. What the
//   ......  .....                           nodes read is whole, and so is what others read of them; what is
//   ######  #####   ####    ####  strip 1   between exists in strips only.
//   ######  #####   ####    ####
//   ######  #####   ....
//   ......
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/tile/row_reads.hpp"

namespace vellum {

// Nodes [first, end) in this number of strips.
struct TiledNodes {
  size_t first = 0, end = 0;
  int64_t strips = 1;

  bool operator==(const TiledNodes&) const = default;
};

// Those of a graph: disjoint, ascending.
using Tiling = std::vector<TiledNodes>;

// Whether strips can compute the nodes: all have rows, and none reads the whole of what another one computes.
bool can_tile(const RowReads& reads, size_t first, size_t end);

// The values that nodes [first, end) compute for others, in order.
std::vector<ValueId> outputs_of(const RowReads& reads, size_t first, size_t end);
// The fewest rows of these: more strips would be empty.
int64_t most_strips(const RowReads& reads, const std::vector<ValueId>& outputs);

// Strip `strip` of an output of tiled nodes. Outputs of several sizes are divided at the same heights.
Rows strip_of_output(const RowReads& reads, const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                     ValueId output, int64_t strip);

// The rows that a strip computes of each node's outputs, from node tiled.first on; empty where it needs none.
std::vector<Rows> rows_of_strip(const RowReads& reads, const TiledNodes& tiled,
                                const std::vector<ValueId>& outputs, int64_t strip);

}  // namespace vellum
