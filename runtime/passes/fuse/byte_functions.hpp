// Replaces functions of one quantised tensor, such as GELU and SiLU, by tables. Quantisers write such a
// function as several elementwise operators with roundings between them.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Replaces each such function by a ByteTable of its 256 results. Intermediate values that other nodes read
// stay.
void tabulate_byte_functions(GraphEditor& editor);

}  // namespace vellum
