// Operators that evaluate graphs of their own.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct GraphOperator : Operator {
  // Returns the graphs, in the order in which bundles store them. Values that a graph reads from outside are
  // inputs of the graph and of the node.
  virtual std::vector<const Graph*> graphs() const = 0;
};

}  // namespace vellum
