// Splits a graph into the part whose shapes are known before running, and the tail: operators with
// data-dependent shapes and everything that depends on them.
#pragma once

#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

class TailCutter {
 public:
  // Decides whether the next node in execution order belongs to the tail. If so, moves it there, sets the
  // types of its outputs as far as they are known, and returns true. The types of its inputs must be set.
  bool takes(Graph& graph, Node& node);
  // Returns whether a node of the tail computes the value.
  bool computes(ValueId id) const { return late_.contains(id); }
  // Returns whether a node of the tail reads the value.
  bool reads(ValueId id) const { return reads_.contains(id); }
  // Sets graph.tail if an output of the model needs it. Call it after takes() was called for all nodes.
  void cut(Graph& graph);

 private:
  std::vector<Node> nodes_;
  std::unordered_set<ValueId> late_, reads_;  // values that the tail computes, and that it reads
};

}  // namespace vellum
