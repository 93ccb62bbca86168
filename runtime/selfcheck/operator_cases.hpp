// Small operators with inputs, one at least for each family of kernels.
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

// Sizes that no tile divides, and values in [-1, 1].
std::vector<SmallOperator> small_operators();

}  // namespace vellum
