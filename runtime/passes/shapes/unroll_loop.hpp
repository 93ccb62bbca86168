// Unrolls a Loop.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns whether the node is a Loop for which it is known whether another iteration follows.
bool has_known_iteration(const GraphEditor& editor, size_t index);

// Replaces the Loop by the nodes of its next iteration, which follow in the execution order, and a Loop of
// the remaining iterations; or by its results if no iteration follows. Folding these nodes may make the next
// condition constant. `spent` counts the nodes of iterations. Throws Error(unsupported) if they exceed
// LoadLimits::nodes.
void unroll_iteration(GraphEditor& editor, size_t index, FoldingSpent& spent);

// Counts nodes that an iteration of a Loop or the chosen branch of `node` adds. Throws Error(unsupported) if
// the total exceeds LoadLimits::nodes.
void spend_nodes(const GraphEditor& editor, const Node& node, uint64_t nodes, FoldingSpent& spent);

}  // namespace vellum
