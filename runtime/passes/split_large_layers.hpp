// Splits layers whose weights exceed the size of a storage buffer, or the bytes that may be on the device at
// once.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace vellum {

// Limits in bytes of weights, bias included.
struct LayerLimits {
  uint64_t layer = UINT64_MAX;  // larger layers are split
  uint64_t part = UINT64_MAX;   // bound for each part of a split layer
  // Output channels that kernels may add to fill their tiles.
  int64_t padding_channels = 0;
  // Packed tables with more bytes (BlockGather) stay in host memory, where a run reads the rows that it
  // needs.
  uint64_t table = UINT64_MAX;
};

// Splits convolutions without groups, and products by a constant matrix, by output channels if their weights
// exceed the limit, at `element_bytes` an element. Parts are equal up to multiples of four channels, and a
// Concat joins them, so that sums have the same terms in the same order. Products with packed weights
// (BlockProduct) are split in the same way, by their own bytes. A fused residual becomes an Add
// after the Concat; a squeeze-and-excitation becomes its means and its two products. Other layers are kept.
// Shapes must be known. Runs after optimise() and is not one of its passes.
void split_large_layers(Graph& graph, const LayerLimits& limits, uint64_t element_bytes);

}  // namespace vellum
