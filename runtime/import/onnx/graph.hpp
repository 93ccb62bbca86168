// GraphProto -> Graph.
#pragma once

#include <filesystem>

#include "graph/graph.hpp"
#include "import/onnx/schema.hpp"
#include "import/record.hpp"

namespace vellum::onnx {

// The checked graph of a model; takes the weights out of `model` instead of copying them. External data are
// looked for in `folder`; an empty one refuses them. `record`, if any: what the operators were made from.
Graph take_graph(schema::ModelProto& model, const std::filesystem::path& folder,
                 GraphRecord* record = nullptr);

}  // namespace vellum::onnx
