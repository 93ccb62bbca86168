// Helpers of functions that add operators to a model's graph.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace vellum {

// Returns `base`, lengthened until no value of the graph has this name.
inline std::string unused_name(const Graph& graph, std::string base) {
  while (graph.find_value(base)) base += "_";
  return base;
}

}  // namespace vellum
