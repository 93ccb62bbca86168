// The rows that convolutions and pools read, from their windows (graph/operators/conv/window.hpp). Used by
// operator_rows.cpp.
#pragma once

#include <memory>
#include <optional>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "passes/tile/operator_rows.hpp"

namespace vellum {

// Returns the window of a Conv, ConvTranspose or Pool over two axes. Returns nothing for other nodes, and if
// the windows depend on where the whole input ends.
std::optional<WindowPlacement> row_window(const Graph& graph, const Node& node);

// Returns the rows of input 0 that are read to compute `computed`.
RowsRead window_rows_read(const Graph& graph, const Node& node, const Rows& computed,
                          ImageAxis axis = ImageAxis::rows);

// Returns the operator that computes the rows `computed` from an input that holds the rows `held`.
std::shared_ptr<const Operator> window_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                const Rows& held);

}  // namespace vellum
