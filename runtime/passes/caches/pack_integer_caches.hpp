// Keeps caches of 8-bit integers as bytes in the words of the device (graph/byte_rows.hpp), where an integer
// otherwise takes a word.
//
//   past (i8) ---+                              past (words) ---+
//   new tokens --+-- TensorScatter --> Cast =>  new tokens -----+-- CacheUpdate --+
//   indices -----+                      |       indices --------+                 |
//   Q --------------------------- Attention     Q -------------------------- Attention of words
//
// The integers are those of com.microsoft's GroupQueryAttention (graph/operators/matmul/integer_caches.hpp),
// of 8 bits or two of 4 bits in a byte. CacheUpdate quantises new tokens that the model divides by a scale.
#pragma once

#include <span>

#include "graph/graph.hpp"
#include "graph/state_pairs.hpp"

namespace vellum {

// Changes the states that are such caches and are read by attention alone, which takes keys and values of one
// format and ends at given lengths. Other states remain. The graph must be optimised;
// limit_attention_to_length() comes after it.
void pack_integer_caches(Graph& graph, std::span<const StatePair> states);

}  // namespace vellum
