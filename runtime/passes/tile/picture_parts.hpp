// Divides a picture into parts of equal size along one axis. The unchanged network of local operators runs
// over one part after another. Its results far enough from the ends of a part equal those of the whole
// picture.
//
//   picture   |-------------------------------------------------|
//   parts     |==============|                              Each begins at a multiple of the alignment,
//                      |==============|                     so that strides fall on the same rows.
//                                           |==============|
//   outputs   |------------|----------|---------------------|      Two parts read the halo.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/tile/operator_rows.hpp"

namespace vellum {

// One part of a picture, and the rows of the outputs that are taken from it.
struct PicturePart {
  int64_t begin = 0;  // the first row of the inputs that the part reads
  // Per output of the graph: the rows of the whole output that are taken from this part, and the index of the
  // first of them within the part.
  std::vector<Rows> rows;
  std::vector<int64_t> first;
};

// Returns the alignment: parts begin at multiples of this number of input rows. `whole`: the prepared graph
// of the whole picture. Throws Error(unsupported), which names the layer, if the network is not local along
// the axis, or if a part would round differently from the whole.
int64_t picture_alignment(const Graph& whole, ImageAxis axis);

// Divides a picture so that every row of every output is taken from one part. `part`: the same network
// prepared for the rows of a part, whose number differs from the whole's by a multiple of the alignment. Each
// row is proved equal by comparing what the layers read in the part and in the whole. Throws
// Error(invalid_argument) if parts of that size have no rows besides the halo; Error(unsupported) if the two
// graphs are different networks.
std::vector<PicturePart> divide_picture(const Graph& part, const Graph& whole, ImageAxis axis);

}  // namespace vellum
