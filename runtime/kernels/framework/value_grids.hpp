// Finds the values of a graph that can be stored in bytes. The elements of such a value are on a grid of at
// most 256 numbers, because an operator rounds its results to the grid.
#pragma once

#include <optional>
#include <vector>

#include "graph/operators/elementwise/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns whether the options allow values to be stored in bytes. Kernels with fp16 arithmetic do not read
// bytes.
bool stores_bytes(const LoweringOptions& options);

// Returns the activation that an operator applies to its results; null if it has none.
const Activation* activation_of(const Operator& op);

// Returns whether the operator has no negative results. NaN is possible.
bool is_never_negative(const Operator& op);

// Returns the grid of each value of the graph, by ValueId. Values that are not rounded, and constants, have
// none. A value is on the grid that its operator rounds to (Activation::step, DequantizeLinear). If its
// operator only moves elements, it is on the grid of its input. If its only reader rounds it, and its
// operator's kernel can round as it stores, it is on the grid of that reader, which then needs no dispatch.
// In fp32 a graph output of one pixel that nothing else reads has none.
std::vector<std::optional<ByteGrid>> value_grids(const Graph& graph, Precision precision = Precision::fp32);

}  // namespace vellum
