// Execution order of the nodes of a file.
#pragma once

#include <cstddef>
#include <vector>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Indices of the nodes such that each comes after the producers of its inputs, those of the graphs
// in its attributes included. ONNX asks files to be so
// ordered and some exporters forget; a file in order keeps its order. Throws Error(corrupt_model) naming a
// node of a cycle.
std::vector<size_t> execution_order(const schema::GraphProto& graph);

}  // namespace vellum::onnx
