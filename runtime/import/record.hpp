// What the operators of an imported graph were made from, so that they can be made again without the model
// file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct NodeRecord;
using GraphRecord = std::vector<NodeRecord>;  // in the order of Graph::nodes

struct NodeRecord {
  std::string type;
  int opset = 0;
  Attributes attributes;
  std::vector<GraphRecord> branches;  // of If: then, else
};

// import_onnx() of import.hpp, which also says what the operators were made from.
Graph import_onnx(const std::filesystem::path& file, GraphRecord& record);

}  // namespace vellum
