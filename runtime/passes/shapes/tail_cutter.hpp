// Parts a graph into what shapes can be told of before running and what follows operators whose shapes only
// values tell.
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

class TailCutter {
 public:
  // Whether the next node, in execution order, belongs to the tail; if so it is moved there. Its inputs have
  // their types, and it gives its outputs theirs, as far as they are known.
  bool takes(Graph& graph, Node& node);
  // Whether a node of the tail reads the value.
  bool reads(ValueId id) const { return reads_.contains(id); }
  // Once all nodes were asked: gives the graph its tail, where an output of the model needs one.
  void cut(Graph& graph);

 private:
  std::vector<TensorType> types_behind(const Graph& graph, const Node& node) const;

  std::vector<Node> nodes_;
  std::unordered_set<ValueId> late_, reads_;  // what they compute, and what they read
};

}  // namespace vellum
