// A picture in parts along one axis: a network of local operators runs over one part after the other, all of
// one size, unchanged, and what it computes far enough from the ends is what it computes of the whole.
//
//   picture   |-------------------------------------------------|
//   parts     |==============|                                     Each begins at a multiple of the
//   alignment,
//                      |==============|                            so that strides fall on the same rows.
//                                           |==============|
//   outputs   |------------|----------|---------------------|      The halo is read by two parts.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/tile/operator_rows.hpp"

namespace vellum {

struct PicturePart {
  int64_t begin = 0;  // the first row of the inputs that the part reads
  // Per output of the graph: the rows of the whole that this part is for, and the part's own row that is the
  // first of them.
  std::vector<Rows> rows;
  std::vector<int64_t> first;
};

// Returns the number of input rows of which a part begins at a multiple. `whole`: prepared, with all rows.
// Throws Error(unsupported), naming the layer, if the network is not local along the axis, or a part would
// round otherwise than the whole.
int64_t picture_alignment(const Graph& whole, ImageAxis axis);

// Divides a picture: every row of every output is in one part. `part`: the same network prepared for as many
// rows as a part has, which differ from those of the whole by a multiple of the alignment. Proves each row by
// what the layers read in the part and in the whole. Throws Error(invalid_argument) if parts of that size
// have no rows left beside the halo; Error(unsupported) if the two graphs are not one network.
std::vector<PicturePart> divide_picture(const Graph& part, const Graph& whole, ImageAxis axis);

}  // namespace vellum
