// Functions of one rounded tensor that several elementwise operators compute, with roundings between: GELU,
// SiLU and others, as quantisers write them.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Replaces each function by a ByteTable of its 256 results. What something else reads stays.
void tabulate_byte_functions(GraphEditor& editor);

}  // namespace vellum
