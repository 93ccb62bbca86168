// The graph of GroupQueryAttention (group_query_attention.cpp) for known shapes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/composed.hpp"
#include "graph/operators/matmul/integer_caches.hpp"

namespace vellum {

struct GroupForm {
  int64_t heads = 0, kv_heads = 0;
  int64_t window = -1;  // keys that a query attends to, its own included; -1: all before it
  float scale = 0.0f, softcap = 0.0f;
  bool has_sinks = false;  // head_sink, or with a smooth softmax a sink of 0 for each head
  bool turns = false;      // rotary embeddings are applied
  int64_t interleaved = 0;
  IntegerCache keys, values;
  float q_epsilon = 0.0f, k_epsilon = 0.0f;  // of the norms of queries and keys
};

namespace group_query {

enum GroupInput : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,  // the length of each batch with its new tokens, minus one
  kTotal,    // the largest of these lengths, or the capacity of the cache
  kCosines,
  kSines,
  kPositions,
  kBias,
  kHeadSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm,
  kQueryLengths,
};

}  // namespace group_query

// Adds attention of new tokens to the tokens in a cache, and to each other in causal order.
void build_group_query(Body& body, const GroupForm& form);

}  // namespace vellum
