// Moves loop-invariant nodes out of a Loop.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Replaces a Loop that cannot be unrolled by the nodes of its body that compute the same in each iteration,
// and a Loop of the other nodes, which reads their results from outside. The new nodes follow in the
// execution order. Returns false, and changes nothing, if the body has no such nodes.
bool hoist_invariants(GraphEditor& editor, size_t index);

}  // namespace vellum
