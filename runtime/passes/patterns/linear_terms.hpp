// Values whose elements are sums of at most two elements of one other value, each times a constant.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Element i of the value is the sum over k of factor[k][i] * source[index[k][i]]; a factor of 0 is no term.
struct LinearTerms {
  ValueId source = kNoValue;
  std::array<HostTensor, 2> index, factor;  // int64 and float32, of the value's shape
};

class LinearTrace {
 public:
  explicit LinearTrace(const GraphEditor& editor) : editor_(editor) {}

  // Follows Transpose, Slice, Reshape, Concat, negations and products with constants back to the first
  // operator that is none of them, and sums of two products with constants. The value itself is the source
  // where it is computed by another operator.
  const LinearTerms& terms_of(ValueId value);

 private:
  std::optional<LinearTerms> through_node(ValueId value);
  std::optional<LinearTerms> moved(const Node& node, ValueId value);
  std::optional<LinearTerms> joined(const Node& node);
  std::optional<LinearTerms> scaled(const Node& node, ValueId value);
  std::optional<LinearTerms> added(const Node& node, ValueId value);
  LinearTerms source(ValueId value) const;

  const GraphEditor& editor_;
  std::map<ValueId, LinearTerms> known_;
};

// Whether the value is a product with a constant of several elements.
bool is_product_with_table(const GraphEditor& editor, ValueId value);

}  // namespace vellum
