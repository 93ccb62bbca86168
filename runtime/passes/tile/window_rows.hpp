// Rows of convolutions and pools, by their windows (graph/operators/conv/window.hpp). For operator_rows.hpp.
#pragma once

#include <memory>
#include <optional>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "passes/tile/operator_rows.hpp"

namespace vellum {

// The window of a Conv, ConvTranspose or Pool over two axes; nothing if the node is none of them, or its
// windows depend on where the whole ends.
std::optional<WindowPlacement> row_window(const Graph& graph, const Node& node);

// The rows of input 0.
RowsRead window_rows_read(const Graph& graph, const Node& node, const Rows& computed,
                          ImageAxis axis = ImageAxis::rows);

std::shared_ptr<const Operator> window_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                const Rows& held);

}  // namespace vellum
