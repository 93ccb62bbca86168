// Finds where a quantised network goes on in floats: for `vellum inspect --stage graph`.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// A tensor of floats that a node computes from tensors that are stored in bytes.
struct FloatBoundary {
  ValueId value = kNoValue;
  size_t node = 0;     // index in graph.nodes
  std::string reason;  // why it is not stored in bytes, in words
};

// Returns the boundaries of a graph whose shapes are known, in the order of its nodes.
std::vector<FloatBoundary> float_boundaries(const Graph& graph);

// Returns a line for each boundary; empty if there is none.
std::string to_text(const Graph& graph, const std::vector<FloatBoundary>& boundaries);

}  // namespace vellum
