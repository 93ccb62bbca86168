// Values whose elements are those of another value in another order: Transpose, Slice, Split, Reshape and the
// like as a view of what they read.
#pragma once

#include "graph/operators/matmul/attention.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

struct ViewedValue {
  ValueId source = kNoValue;
  StridedView view;
  double scale = 1.0;  // what the source's elements are multiplied by
};

// Whether a product with a constant scalar ends the way back, or is passed and counted as `scale`.
enum class Scalings { end, passed };

// `value` as a view of the first value that is only rearranged from there on; a view of `value` itself where
// an operator computes its elements.
ViewedValue view_of(const GraphEditor& editor, ValueId value, Scalings scalings = Scalings::end);

}  // namespace vellum
