// Splitting of layers that have more weights than may be on the device at once.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace vellum {

// Splits Conv without groups, Gemm, and MatMul with a constant matrix, whose weights take more than
// `max_bytes` at `element_bytes` an element: each part computes some of the output channels, and a Concat
// puts them together. The sums, and their order, stay. A fused residual becomes an Add after the Concat; a
// SqueezeExcite becomes the means and its two products. Layers that cannot be split stay whole. Shapes must
// be known. Runs after optimise().
void split_large_layers(Graph& graph, uint64_t max_bytes, uint64_t element_bytes);

}  // namespace vellum
