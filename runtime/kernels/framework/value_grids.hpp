// Which values of a graph are stored in bytes: those whose elements are on a grid of at most 256 numbers,
// because an operator rounds its results to it.
#pragma once

#include <optional>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns whether the options let values be stored in bytes. Kernels that multiply halves read none.
bool stores_bytes(const LoweringOptions& options);

// Returns the grid of each value of the graph; none for values that are not rounded, and for constants. A
// value is on the grid that its operator rounds to (Activation::step, DequantizeLinear), or, if its operator
// only moves elements, on the grid of what it moves. A value that only a rounding reads is on the grid of the
// rounding if the store of its operator rounds as well: then the rounding has nothing left to do.
std::vector<std::optional<ByteGrid>> value_grids(const Graph& graph);

}  // namespace vellum
