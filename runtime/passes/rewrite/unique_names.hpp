// Names for values that passes add.
#pragma once

#include <string>
#include <unordered_map>

#include "graph/graph.hpp"

namespace vellum {

// Collects the names of the graph's values on first use, and remembers the names that it made.
class UniqueNames {
 public:
  explicit UniqueNames(const Graph& graph) : graph_(graph) {}

  // `base` where no value has this name, else `base` with the least number from 2 on that makes it unique.
  std::string make(const std::string& base);

 private:
  const Graph& graph_;
  std::unordered_map<std::string, int> taken_;  // with the number to try next, for a name as a base
};

}  // namespace vellum
