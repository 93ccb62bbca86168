// Converts caches that grow with each run to caches of fixed capacity. A growing cache is an output that
// concatenates a state and new tokens, as exporters write the keys and values of a decoder. The number of
// valid tokens becomes one more state of the model. The Concat may be a part of Attention or
// MultiHeadAttention (GrowingAttention).
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
// For shapes, P is capacity - T: a dimension of P + T becomes the capacity, and tokens after the length are
// never read. For values that the model computes from P, such as positions and masks, P is cache_length.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/state_pairs.hpp"
#include "passes/passes.hpp"

namespace vellum {

// The state that counts the tokens in all growing caches, and the output that continues it.
inline constexpr std::string_view kCacheLength = "cache_length", kNextCacheLength = "cache_length.next";

// A growing cache: result = Concat(cache, tokens) along `axis`.
struct GrowingCache {
  StatePair pair;
  size_t node = 0;  // the index of the Concat or GrowingAttention
  size_t axis = 0;  // of the Concat
  ValueId cache = kNoValue, tokens = kNoValue, result = kNoValue;
  size_t tokens_axis = 0;  // the dimension of `tokens` that counts them
};

// Returns the states that are growing caches, in the order of their Concat nodes.
std::vector<GrowingCache> find_growing_caches(const Graph& graph, std::span<const StatePair> states);

// Sets the capacity of the growing caches to `capacity` tokens, and adds cache_length and cache_length.next.
// The Concat nodes stay until fix_cache_capacity() changes them. Throws Error(invalid_argument) if no state
// grows, Error(unsupported) if the model reads a growing cache in a way that is not supported.
Graph add_cache_length(Graph graph, std::span<const StatePair> states, int64_t capacity);
// Returns whether add_cache_length() made the graph.
bool has_cache_length(const Graph& graph);

// Converts the growing caches of a graph from add_cache_length() to caches of fixed capacity, for these
// shapes of the inputs. An open dimension whose size is the capacity counts all tokens, as in attention_mask.
// Throws Error(unsupported), which names the node, if the model uses the number of earlier tokens in a way
// that cannot be computed in a run.
Graph fix_cache_capacity(Graph graph, std::span<const StatePair> states, const InputShapes& shapes,
                         const InputTensors& values);
// Returns how many tokens a run of the prepared graph adds to its growing caches; 0 if it has none.
int64_t tokens_of_run(const Graph& prepared);
// Limits attention over these caches to their valid tokens, in the optimised graph. Throws
// Error(unsupported), which names the node, if an operator other than attention reads a cache: it would read
// tokens after the length.
void limit_attention_to_length(Graph& graph, std::span<const StatePair> states);

}  // namespace vellum
