// Tensors stacked along a new axis.
#pragma once

#include <string>
#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Inserts nodes of this name after node `index` that compute `output`: the tensors, which have one shape,
// along a new axis of the result. Returns the last of the nodes.
size_t stack_values(GraphEditor& editor, size_t index, const std::string& name, std::vector<ValueId> tensors,
                    int64_t axis, ValueId output);

}  // namespace vellum
