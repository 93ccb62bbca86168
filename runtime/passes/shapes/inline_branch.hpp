// Replaces an If by the nodes of the chosen branch.
#pragma once

#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns whether the node is an If with a constant condition.
bool has_known_branch(const GraphEditor& editor, size_t index);

// Replaces the If by the nodes of its chosen branch, which follow in the execution order, and a copy to each
// output. Throws Error(unsupported) if the total of such nodes exceeds LoadLimits::nodes.
void inline_branch(GraphEditor& editor, size_t index, FoldingSpent& spent);

// Returns the names of the inputs that are conditions of an If, in the order of inputs.
std::vector<std::string> branch_inputs(const Graph& graph);

// Replaces each If whose condition is one of these inputs by the nodes of the chosen branch, before shapes
// are inferred. `values`: of branch_inputs(). Outputs of the graph for which the branch has constants become
// constants.
void choose_branches(Graph& graph, const InputTensors& values);

}  // namespace vellum
