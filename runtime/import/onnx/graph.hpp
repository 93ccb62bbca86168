// Reads GraphProto into a Graph.
#pragma once

#include <filesystem>

#include "graph/graph.hpp"
#include "import/onnx/schema.hpp"
#include "import/record.hpp"

namespace vellum::onnx {

// Returns the checked graph of a model. Moves the weights out of `model` instead of copying them. External
// data are read from `folder`, from which links may lead into `links_within`; an empty folder refuses them.
// Fills `record` unless it is null.
Graph take_graph(schema::ModelProto& model, const std::filesystem::path& folder,
                 GraphRecord* record = nullptr, const std::filesystem::path& links_within = {});

}  // namespace vellum::onnx
