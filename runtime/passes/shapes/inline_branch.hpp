// Replaces an If by the nodes of the chosen branch.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns whether the node is an If with a constant condition.
bool has_known_branch(const GraphEditor& editor, size_t index);

// Replaces the If by the nodes of its chosen branch, which follow in the execution order, and a copy to each
// output. Throws Error(unsupported) if the total of such nodes exceeds LoadLimits::nodes.
void inline_branch(GraphEditor& editor, size_t index, FoldingSpent& spent);

}  // namespace vellum
