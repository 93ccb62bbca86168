// Consecutive nodes of a graph that run strip by strip: a strip is some rows of every tensor between them.
//
//   image   conv    conv    pool            A strip of the last output needs more rows of the tensors
//   ......                                  before it: the halo, which the next strip computes again.
//   ......  .....                           Inputs of the first node and tensors that other nodes read
//   ######  #####   ####    ####  strip 1   exist as a whole; tensors in between exist only in strips.
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

// Nodes [first, end) that run in `strips` strips. Along the images of a batch a strip is some of the images,
// without a halo.
struct TiledNodes {
  size_t first = 0, end = 0;
  int64_t strips = 1;
  // Nodes whose rows a strip keeps for the next one, ascending: line buffers, which cost copies instead of
  // the halo's computation. Other nodes compute the halo again.
  std::vector<size_t> kept = {};
  ImageAxis axis = ImageAxis::rows;  // or images

  bool operator==(const TiledNodes&) const = default;
};

// The tiled nodes of a graph: disjoint ranges, ascending.
using Tiling = std::vector<TiledNodes>;

// Returns whether nodes [first, end) can run in strips: all have rows, and none reads the whole output of
// another.
bool can_tile(const RowReads& reads, size_t first, size_t end);

// Returns the values of nodes [first, end) that are read outside of them, in order.
std::vector<ValueId> outputs_of(const RowReads& reads, size_t first, size_t end);
// Returns the largest number of strips: the smallest number of rows of these outputs.
int64_t most_strips(const RowReads& reads, const std::vector<ValueId>& outputs);

// Returns the rows of an output that strip `strip` computes. Outputs of several sizes are divided at the same
// relative heights.
Rows strip_of_output(const RowReads& reads, const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                     ValueId output, int64_t strip);

// The rows of a node's outputs that a strip holds: those that the previous strip kept, then those that it
// computes.
struct StripRows {
  Rows held, computed;

  Rows kept() const { return {held.begin, computed.empty() ? held.end : computed.begin}; }
  bool operator==(const StripRows&) const = default;
};

// Decides whether a node keeps the rows `again` for the next strip: the next strip needs `wanted`, and
// `again` is the part of it that this strip already has.
using KeepRows = std::function<bool(size_t node, const Rows& again, const Rows& wanted)>;

// Returns the rows of a strip for each node from tiled.first on; empty rows for nodes that it does not need.
// `before`: the rows of the previous strip, of which only the ends matter; empty for the first. `keep`:
// replaces tiled.kept.
std::vector<StripRows> rows_of_strip(const RowReads& reads, const TiledNodes& tiled,
                                     const std::vector<ValueId>& outputs, int64_t strip,
                                     const std::vector<StripRows>& before, const KeepRows& keep = {});
// Returns the rows of all strips, with tiled.kept.
std::vector<std::vector<StripRows>> rows_of_strips(const RowReads& reads, const TiledNodes& tiled,
                                                   const std::vector<ValueId>& outputs);

}  // namespace vellum
