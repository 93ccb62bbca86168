// Finds values whose elements are sums of at most two elements of one source value, each times a constant.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Element i of the value is the sum over k of factor[k][i] * source[index[k][i]]. A factor of 0 means no
// term.
struct LinearTerms {
  ValueId source = kNoValue;
  std::array<HostTensor, 2> index, factor;  // int64 and float32, of the value's shape
};

class LinearTrace {
 public:
  explicit LinearTrace(const GraphEditor& editor) : editor_(editor) {}

  // Follows Transpose, Slice, Reshape, Concat, negations, products with constants, and sums of two such
  // products back to the first other operator, whose result is the source. If the value itself is computed by
  // another operator, it is its own source.
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

// Returns whether the value is a product with a constant of several elements.
bool is_product_with_table(const GraphEditor& editor, ValueId value);

}  // namespace vellum
