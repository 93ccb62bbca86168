// Matches what to_cache_integers() (graph/operators/matmul/integer_caches.hpp) writes: floats that become the
// integers of a cache.
#pragma once

#include <optional>

#include "graph/byte_rows.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

struct QuantisedTokens {
  ValueId floats = kNoValue;
  ValueId scale = kNoValue;  // one element, or (1, head, 1, channel)
};

// Matches tokens (batch, head, token, channel) of a cache of bytes or nibbles.
std::optional<QuantisedTokens> match_quantised_tokens(const GraphEditor& editor, ValueId integers,
                                                      RowFormat format);

}  // namespace vellum
