// Values that are other values' elements in another order: what Transpose, Slice, Reshape and the like come
// to.
#pragma once

#include "graph/operators/attention.hpp"
#include "passes/rewrite/editor.hpp"

namespace vellum {

// `value` as a view of the value farthest back that it only rearranges; of itself where it is computed.
struct ViewedValue {
  ValueId source = kNoValue;
  StridedView view;
};
ViewedValue view_of(const GraphEditor& editor, ValueId value);

}  // namespace vellum
