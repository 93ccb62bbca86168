// Writes a graph as an ONNX file.
#pragma once

#include <set>
#include <string>

#include "graph/graph.hpp"

namespace vellum::quantization {

// Returns the bytes of an ONNX file of the graph, whose types are known. It has the oldest operator set, from
// 17 on, that has its operators. `four_bits`: constants of int8 that are written as int4. Throws
// Error(unsupported), which names the node, for an operator that ONNX does not have or that this function
// does not know.
std::string write_onnx(const Graph& graph, const std::set<ValueId>& four_bits = {});

}  // namespace vellum::quantization
