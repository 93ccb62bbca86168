// Finds values that only rearrange another value (by Transpose, Slice, Split, Reshape and so on), and
// describes them as strided views of it.
#pragma once

#include <optional>

#include "graph/operators/matmul/attention.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// A value as a strided view of another one: its elements are `scale` times elements of `source`.
struct ViewedValue {
  ValueId source = kNoValue;
  StridedView view;
  double scale = 1.0;  // factor on the source's elements
};

// Whether the search for the source ends at a product with a constant scalar, or passes it and multiplies
// `scale`.
enum class Scalings { end, passed };

// Returns `value` as a view of the value from which it is rearranged. If an operator computes its elements,
// the source is `value` itself.
ViewedValue view_of(const GraphEditor& editor, ValueId value, Scalings scalings = Scalings::end);

// Returns the elements that `part` has of a tensor as a view of a copy of this tensor: `whole` has all its
// elements, in another order. Returns nothing if they are no view of the copy, or if `whole` has not all.
std::optional<StridedView> view_in_copy(const StridedView& part, const StridedView& whole);

}  // namespace vellum
