// Rounds the inputs of a concatenation instead of its result. Quantisers give the result of a Concat a grid
// of its own. If layers compute the inputs, they can store them on that grid, as parts of the result.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Moves the rounding of each such result before the Concat. Inputs that are on its grid already stay as they
// are. Results of layers are rounded a second time, which tabulate_byte_functions() makes a table of the
// layer's results. If there are other inputs, the rounding of the result stays for them.
void round_before_concats(GraphEditor& editor);

}  // namespace vellum
