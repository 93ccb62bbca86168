// Operators that evaluate graphs of their own.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct GraphOperator : Operator {
  // The graphs, in the order in which bundles store them. What a graph reads from outside are inputs of it,
  // and of the node.
  virtual std::vector<const Graph*> graphs() const = 0;
};

}  // namespace vellum
