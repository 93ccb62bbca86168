// Puts a graph in the place of the node that it computes.
#pragma once

#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Inserts the nodes of `inner` after node `index`. `values` has for each value of `inner` the one of the
// edited graph that it is, or kNoValue for a new one, which is filled in. Returns the last of the nodes.
size_t insert_nodes(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId>& values);

// Replaces node `index` by the nodes of `inner`, whose outputs are those of the node. `values` as above. The
// nodes are visited next by GraphEditor::nodes().
void inline_graph(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId> values);

}  // namespace vellum
