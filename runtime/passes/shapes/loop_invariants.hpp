// Moves loop-invariant nodes out of a Loop.
#pragma once

#include <functional>
#include <vector>

#include "graph/operators/control/loop.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns for each input of a Loop's body whether it is the same in each iteration: a value from outside, or
// a state that every iteration passes on. Exporters of PaddlePaddle make the weights states.
std::vector<bool> invariant_inputs(const LoopOperator& loop);

// Replaces a Loop that cannot be unrolled by the nodes of its body that compute the same in each iteration,
// and a Loop of the other nodes, which reads their results from outside. The new nodes follow in the
// execution order. `is_late`: whether a value has a data-dependent shape. Nodes that read such values stay,
// because they may fail for shapes with which the Loop has no iteration. Returns false, and changes nothing,
// if the body has no nodes to move.
bool hoist_invariants(GraphEditor& editor, size_t index, const std::function<bool(ValueId)>& is_late);

}  // namespace vellum
