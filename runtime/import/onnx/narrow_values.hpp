// The values of a graph whose type is narrow (graph/narrow_types.hpp): values have the type that they are
// stored in, so some operators need the type of the file.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

class NarrowTypes {
 public:
  // Reads the types that the file declares. `outer`: those of the graph of which `graph` is a branch; null
  // for the model's graph.
  NarrowTypes(const schema::GraphProto& graph, const NarrowTypes* outer);

  // Returns ONNX's number of a value's type if it is narrow, else 0.
  int64_t find(const std::string& value) const;

 private:
  void note(const std::string& value, int64_t type);

  const NarrowTypes* const outer_;
  std::unordered_map<std::string, int64_t> types_;
};

}  // namespace vellum::onnx
