// Small operators with inputs: at least one for each family of kernels.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

struct SmallOperator {
  std::string name;
  Graph graph;  // of one node
  std::vector<HostTensor> inputs;
};

// Returns the operators. No tile size divides their sizes; values are in [-1, 1].
std::vector<SmallOperator> small_operators();

}  // namespace vellum
