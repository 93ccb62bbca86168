// Execution order of the nodes of a file.
#pragma once

#include <cstddef>
#include <vector>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns the indices of the nodes in an order in which each node follows the producers of its inputs,
// including the inputs of graphs in its attributes. ONNX requires files to be ordered this way, but some
// exporters violate it. A file that is in order keeps its order. Throws Error(corrupt_model), which names a
// node, if there is a cycle.
std::vector<size_t> execution_order(const schema::GraphProto& graph);

}  // namespace vellum::onnx
