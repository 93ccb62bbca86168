// Replaces a node by the nodes of a graph.
#pragma once

#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Inserts the nodes of `inner` after node `index`, and returns the last inserted node. `values` maps each
// value of `inner` to a value of the edited graph. Entries of kNoValue become new values and are filled in.
size_t insert_nodes(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId>& values);

// Replaces node `index` by the nodes of `inner`, whose outputs are the node's outputs. `values`: as above.
// GraphEditor::nodes() visits the new nodes next.
void inline_graph(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId> values);

}  // namespace vellum
