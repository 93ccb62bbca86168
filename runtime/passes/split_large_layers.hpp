// Layers with more weights than a storage buffer holds, or than may be on the device at once.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace vellum {

// Bytes of weights, bias included.
struct LayerLimits {
  uint64_t layer = UINT64_MAX;  // larger layers are split
  uint64_t part = UINT64_MAX;   // of a layer that is split
  // Output channels that kernels may add to a layer's own, to fill their tiles.
  int64_t padding_channels = 0;
};

// Computes convolutions without groups and products by a constant matrix in parts of their output channels if
// their weights exceed the limit, at `element_bytes` an element. The parts are as equal as fours of channels
// allow, and a Concat joins them: the same sums in the same order. A residual that was fused into a layer is
// added to the whole again, and a squeeze-and-excitation becomes its means and its two products. What cannot
// be split stays whole. Shapes must be known. Follows optimise() and is no part of it.
void split_large_layers(Graph& graph, const LayerLimits& limits, uint64_t element_bytes);

}  // namespace vellum
