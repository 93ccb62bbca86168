// For passes that write the nodes of a graph anew, one behind the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "passes/rewrite/unique_names.hpp"

namespace vellum {

// Values get the name that is asked for, with a number behind where it is taken.
class NodeWriter {
 public:
  explicit NodeWriter(Graph& graph) : graph_(graph), names_(graph) {}

  // A node behind the others that makes one value of that type, which is given back.
  ValueId add(const std::string& name, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
              TensorType type);
  ValueId add_constant(const std::string& name, HostTensor tensor);

 private:
  Graph& graph_;
  UniqueNames names_;
};

}  // namespace vellum
