// The iterations of a Loop in its place.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Whether the node is a Loop of which it is known whether another iteration follows.
bool has_known_iteration(const GraphEditor& editor, size_t index);

// Replaces the Loop by the nodes of its next iteration, which come next in the execution order, and a Loop of
// the rest; where no iteration follows, by its results. The iteration's condition may be constant once its
// nodes were folded. Throws Error(unsupported) where the iterations have more nodes than LoadLimits::nodes;
// `spent` counts them.
void unroll_iteration(GraphEditor& editor, size_t index, FoldingSpent& spent);

// Adds nodes that are brought by a Loop, or by a branch that `node` chose. Throws Error(unsupported) if they
// are more than LoadLimits::nodes.
void spend_nodes(const GraphEditor& editor, const Node& node, uint64_t nodes, FoldingSpent& spent);

}  // namespace vellum
