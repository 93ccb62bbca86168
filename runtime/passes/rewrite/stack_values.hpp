// Stacks tensors along a new axis.
#pragma once

#include <string>
#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Inserts nodes after node `index` that stack `tensors`, which have one shape, along the new axis `axis` of
// `output`. Returns the last inserted node. `name`: the name of the nodes.
size_t stack_values(GraphEditor& editor, size_t index, const std::string& name, std::vector<ValueId> tensors,
                    int64_t axis, ValueId output);

}  // namespace vellum
