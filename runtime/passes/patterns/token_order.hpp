// Matches masks that say which keys a query may see by the positions of both.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/tensor.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

// Query i, which has position p, may see the keys p - window < key <= p.
struct TokenOrder {
  bool causal = false;  // key <= p
  int64_t window = 0;   // 0: none

  explicit operator bool() const { return causal || window > 0; }
  void add(const TokenOrder& other);
};

// The queries and keys of an attention. The position of query i is start + i, or first + i.
struct TokenPositions {
  int64_t queries = 0, keys = 0;
  ValueId start = kNoValue;  // one integer
  std::optional<int64_t> first = {};
};

// Matches a comparison of the positions of keys, which are constants, with those of queries, which follow
// from the start. `is_negated`: of its negation. Nothing if it is not exactly an order: a mask that is one
// key off is none.
std::optional<TokenOrder> match_order(const GraphEditor& editor, ValueId condition, bool is_negated,
                                      const TokenPositions& positions);

// Returns the order of a constant mask (query, key), maybe after dimensions of 1, if the position of the
// first query is known. Booleans keep a key, floats keep it if they are 0 and exclude it below -1e30. Each
// query sees itself at least.
std::optional<TokenOrder> order_of(const HostTensor& mask, const TokenPositions& positions);

}  // namespace vellum
