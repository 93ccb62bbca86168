// Quantised models scale and round queries after they were taken from a tensor of queries, keys and values.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Where `value` is round(scale * move(x)), makes it move(round(scale * x)): a view of a tensor, which kernels
// of attention read in place. Does nothing where the nodes are others.
void round_before_moves(GraphEditor& editor, ValueId value);

}  // namespace vellum
