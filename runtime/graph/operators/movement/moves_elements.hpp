// Identifies operators that only move elements.
#pragma once

#include "graph/graph.hpp"

namespace vellum {

// Returns whether each element of the outputs is an element of the first input, or zero: the node rearranges,
// repeats or selects elements, or takes the largest of some. Its outputs are then on the quantisation grid of
// the first input. False for operators that join several inputs.
bool moves_elements(const Node& node);

}  // namespace vellum
