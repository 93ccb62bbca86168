// Keeps caches of fixed capacity in 8 bits (graph/byte_rows.hpp).
//
//   past (floats) --+                                     past (rows of bytes) --+
//   new tokens -----+-- TensorScatter --> present  =>     new tokens ------------+-- CacheUpdate --> present
//   indices --------+                                     indices ---------------+
//
// Attention reads `present` as scaled_bytes.
#pragma once

#include <span>

#include "graph/graph.hpp"
#include "graph/state_pairs.hpp"

namespace vellum {

// Changes the states that are caches: TensorScatter writes new tokens into them. Other states, such as
// lengths and hidden states, remain. Throws Error(unsupported), which names the node, if a cache is read by
// an operator other than attention or written in another way, and Error(invalid_argument) if no state is a
// cache. The graph must be optimised.
void quantize_caches(Graph& graph, std::span<const StatePair> states);

}  // namespace vellum
