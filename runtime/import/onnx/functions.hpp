// Inlines functions of the model, and operators with graphs: https://onnx.ai/onnx/repo-docs/IR.html#functions
#pragma once

#include <optional>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Replaces each node that calls a function of the model by the function's nodes, in the graph and in nested
// graphs, and FlexAttention by its products and graphs. `opset`: the model's default operator set. Nodes from
// functions of another operator set are marked with it, see take_operator_set(). Throws Error(unsupported)
// for functions that make too many nodes or call themselves.
void inline_functions(schema::ModelProto& model, int opset);

// Returns and removes the operator set that inline_functions() stored in the node. Returns nothing if the
// node uses the model's operator set.
std::optional<int> take_operator_set(schema::NodeProto& node);

}  // namespace vellum::onnx
