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
#include <functional>
#include <vector>

#include "passes/tile/row_reads.hpp"

namespace vellum {

// Nodes [first, end) in this number of strips. Along the images of a batch strips are some of the images, and
// there is no halo.
struct TiledNodes {
  size_t first = 0, end = 0;
  int64_t strips = 1;
  // Those of which a strip keeps the rows that the next one needs again, ascending: line buffers, which take
  // copies where the halo takes computation. Others compute them again.
  std::vector<size_t> kept = {};
  ImageAxis axis = ImageAxis::rows;  // or images

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

// Rows of a node's outputs that a strip has: those that the strip before it kept, then those that it
// computes.
struct StripRows {
  Rows held, computed;

  Rows kept() const { return {held.begin, computed.empty() ? held.end : computed.begin}; }
  bool operator==(const StripRows&) const = default;
};

// Whether a node keeps rows `again`, which a strip needs and the strip before it has had, where the strip
// needs `wanted`.
using KeepRows = std::function<bool(size_t node, const Rows& again, const Rows& wanted)>;

// The rows of a strip, of each node from tiled.first on; empty where it needs none. `before`: those of the
// strip before, of which the ends matter; empty for the first. `keep`: replaces tiled.kept.
std::vector<StripRows> rows_of_strip(const RowReads& reads, const TiledNodes& tiled,
                                     const std::vector<ValueId>& outputs, int64_t strip,
                                     const std::vector<StripRows>& before, const KeepRows& keep = {});
// The rows of all strips, with tiled.kept.
std::vector<std::vector<StripRows>> rows_of_strips(const RowReads& reads, const TiledNodes& tiled,
                                                   const std::vector<ValueId>& outputs);

}  // namespace vellum
