// Functions of the model, and operators whose graphs become part of the graph:
// https://onnx.ai/onnx/repo-docs/IR.html#functions
#pragma once

#include <optional>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Replaces each node that calls a function of the model by the function's nodes, in the graph and the graphs
// within it, and FlexAttention by its products and graphs. `opset` is the model's default operator set; nodes
// of functions that are written in another one have it for take_operator_set(). Throws Error(unsupported) for
// functions that make too many nodes or call themselves.
void inline_functions(schema::ModelProto& model, int opset);

// Takes the operator set that inline_functions() gave the node; nothing if it is the model's.
std::optional<int> take_operator_set(schema::NodeProto& node);

}  // namespace vellum::onnx
