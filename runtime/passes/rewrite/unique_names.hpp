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

  // Returns `base` if no value has this name, else `base` with the smallest number from 2 on that makes it
  // unique.
  std::string make(const std::string& base);

 private:
  const Graph& graph_;
  std::unordered_map<std::string, int> taken_;  // existing names, each with the next number to try
};

}  // namespace vellum
