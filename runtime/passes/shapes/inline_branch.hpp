// The nodes of the chosen branch in place of an If.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Whether the node is an If whose condition is constant.
bool has_known_branch(const GraphEditor& editor, size_t index);

// Replaces the If by the nodes of its chosen branch, which come next in the execution order, and a copy to
// each output. Throws Error(unsupported) if Loops have brought more nodes than a model may have.
void inline_branch(GraphEditor& editor, size_t index, FoldingSpent& spent);

}  // namespace vellum
