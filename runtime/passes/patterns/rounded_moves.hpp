// Quantised models scale and round queries after they were taken from a tensor of queries, keys and values.
#pragma once

#include <optional>

#include "graph/operators/matmul/attention.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Where `value` is round(scale * move(x)), makes it move(round(scale * x)): a view of a tensor, which kernels
// of attention read in place. Does nothing where the nodes are others.
void round_before_moves(GraphEditor& editor, ValueId value);

struct RoundedOperand {
  OperandRounding rounding;
  ValueId moved = kNoValue;
};

// Matches value = rounding(factor * moved), where `moved` only rearranges the elements of another tensor, so
// that attention can round while it gathers them. Nothing where the value is another one, or has several
// readers.
std::optional<RoundedOperand> match_rounded_operand(const GraphEditor& editor, ValueId value);

}  // namespace vellum
