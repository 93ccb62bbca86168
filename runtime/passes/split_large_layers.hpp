// Layers with more weights than may be on the device at once.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace vellum {

// Convolutions without groups and products by a constant matrix whose weights take more than `most_bytes`, at
// `element_bytes` an element, are computed in parts of their output channels, and a Concat puts these
// together: the same sums in the same order. A residual that was fused into one is added to the whole again,
// and a squeeze-and-excitation becomes the means and the two products that it is made of. What cannot be
// split stays whole. Shapes must be known. Not a part of optimise(), which it follows.
void split_large_layers(Graph& graph, uint64_t most_bytes, uint64_t element_bytes);

}  // namespace vellum
