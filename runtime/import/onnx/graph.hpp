// Reads GraphProto into a Graph.
#pragma once

#include <filesystem>

#include "graph/graph.hpp"
#include "import/onnx/schema.hpp"
#include "import/record.hpp"

namespace vellum::onnx {

// Returns the checked graph of a model. Moves the weights out of `model` instead of copying them. Reads
// external data from `folder`; symbolic links in it may lead into `links_within`. With an empty folder
// external data are refused. Fills `record` unless it is null.
Graph take_graph(schema::ModelProto& model, const std::filesystem::path& folder,
                 GraphRecord* record = nullptr, const std::filesystem::path& links_within = {});

}  // namespace vellum::onnx
