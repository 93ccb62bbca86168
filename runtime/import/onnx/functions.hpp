// Functions of the model, and operators whose graphs become part of the graph:
// https://onnx.ai/onnx/repo-docs/IR.html#functions
#pragma once

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Replaces each node that calls a function of the model by the function's nodes, in the graph and the graphs
// within it, and FlexAttention by its products and graphs. `opset` is the model's default operator set.
// Throws Error(unsupported) for a function written in another one, and for functions that make too many nodes
// or call themselves.
void inline_functions(schema::ModelProto& model, int opset);

}  // namespace vellum::onnx
