// A record of the types and attributes from which the operators of an imported graph were made. A bundle
// stores it, so that the operators can be made again without the model file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
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

// Read an ONNX model as import_onnx() of import.hpp does, and fill `record`.
Graph import_onnx(const std::filesystem::path& file, GraphRecord& record,
                  const std::filesystem::path& links_within = {});
Graph import_onnx(std::span<const std::byte> bytes, GraphRecord& record);

}  // namespace vellum
