// Heads of keys and values that are repeated for several heads of queries (grouped queries).
#pragma once

#include <optional>

#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns heads of K or V that an Expand repeats as heads of the tensor before it. Nothing where there is
// none.
std::optional<ViewedValue> without_repeated_heads(const GraphEditor& editor, const ViewedValue& viewed);

// If node `index` is an Attention of the model whose keys and values are repeated heads, it reads the heads
// before the Expand.
void share_repeated_heads(GraphEditor& editor, size_t index);

}  // namespace vellum
