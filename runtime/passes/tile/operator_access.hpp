// Helpers of operator_rows.cpp and operator_images.cpp.
#pragma once

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// Returns the node's operator if it is of this class, else null.
template <typename Op>
const Op* as(const Node& node) {
  return dynamic_cast<const Op*>(node.op.get());
}

inline const Shape& shape_of(const Graph& graph, ValueId value) { return graph.values[value].type.shape; }

// Converts an operator's axis, which may be negative, to a dimension of its input 0.
inline size_t axis_of(const Graph& graph, const Node& node, int64_t axis) {
  return normalize_axis(axis, shape_of(graph, node.inputs[0]).size());
}

}  // namespace vellum
