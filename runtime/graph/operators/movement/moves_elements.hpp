// The operators that only move elements.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Returns whether each element of the outputs is an element of the first input, or zero: the node rearranges,
// repeats or picks elements, or takes the largest of some. Then its outputs are on the grid that the first
// input is on. Operators that join several inputs are not among them.
bool moves_elements(const Node& node);

}  // namespace vellum
