// Caches that become longer with each run: an output that is the concatenation of a state and of new tokens,
// as exporters write the keys and values of a decoder. They become caches of fixed capacity, whose length is
// one more state of the model. The Concat may be a part of Attention or MultiHeadAttention (GrowingAttention).
//
//   past (1, heads, P, channels) --+
//                                  +-- Concat --> present (1, heads, P + T, channels)
//   new tokens (.., T, ..) --------+
//
// becomes
//
//   past (1, heads, capacity, channels) --+
//   new tokens (.., T, ..) ---------------+-- TensorScatter --> present (1, heads, capacity, channels)
//   cache_length = P ---------------------+
//
// For shapes, P is capacity - T: tensors with a dimension of P + T then have that of the capacity, and what
// lies after the length is never read. For values that the model computes from P, such as positions and
// masks, P is cache_length.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/state_pairs.hpp"
#include "passes/passes.hpp"

namespace vellum {

// The state that counts the tokens in all growing caches, and the output that continues it.
inline constexpr std::string_view kCacheLength = "cache_length", kNextCacheLength = "cache_length.next";

struct GrowingCache {
  StatePair pair;
  size_t node = 0;  // the index of the Concat or GrowingAttention
  size_t axis = 0;  // of the Concat
  ValueId cache = kNoValue, tokens = kNoValue, result = kNoValue;
  size_t tokens_axis = 0;  // the dimension of `tokens` that counts them
};

// Returns those of the states that grow, in the order of their nodes.
std::vector<GrowingCache> find_growing_caches(const Graph& graph, std::span<const StatePair> states);

// Gives the growing caches room for `capacity` tokens, and adds cache_length and cache_length.next. The nodes
// stay until fix_cache_capacity() changes them. Throws Error(invalid_argument) if no state grows,
// Error(unsupported) if the model reads a growing cache in a way that is not supported.
Graph add_cache_length(Graph graph, std::span<const StatePair> states, int64_t capacity);
// Returns whether add_cache_length() made the graph.
bool has_cache_length(const Graph& graph);

// Makes the caches of a graph that add_cache_length() made into caches of fixed capacity, for these shapes of
// the inputs. A dimension that the model leaves open and that is as long as the capacity is that of all
// tokens (that of attention_mask). Throws Error(unsupported), which names the node, if the model uses the
// number of earlier tokens in a way that cannot become a value of the run.
Graph fix_cache_capacity(Graph graph, std::span<const StatePair> states, const InputShapes& shapes,
                         const InputTensors& values);
// Returns how many tokens a run of the prepared graph adds to its growing caches; 0 if it has none.
int64_t tokens_of_run(const Graph& prepared);
// Makes attention over these caches end at the length, in the optimised graph. Throws Error(unsupported),
// which names the node, if something else than attention reads a cache: it would see what lies after the
// length.
void limit_attention_to_length(Graph& graph, std::span<const StatePair> states);

}  // namespace vellum
