// Names for values that passes add.
#pragma once

#include <string>
#include <unordered_set>

#include "graph/graph.hpp"

namespace vellum {

// Knows the names of the graph's values from the first use on, and those that it has given.
class UniqueNames {
 public:
  explicit UniqueNames(const Graph& graph) : graph_(graph) {}

  // `base` where no value has it, else with a number behind.
  std::string make(const std::string& base);

 private:
  const Graph& graph_;
  std::unordered_set<std::string> taken_;
};

}  // namespace vellum
