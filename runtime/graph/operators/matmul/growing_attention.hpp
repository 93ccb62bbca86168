// Attention whose caches of keys and values become longer with each run.
#pragma once

#include <array>
#include <memory>

#include "graph/composed.hpp"

namespace vellum {

//   past key (batch, head, P, channel) --+
//                                        +-- present key (batch, head, P + T, channel), of all T new tokens
//   new tokens --------------------------+
//
// and the same for values. In the form of fixed capacity past and present have one shape, and the number of
// tokens in them before the run is an input. GroupQueryAttention has the lengths of the batches as an input
// in both forms.
struct GrowingAttention : Composed {
  struct Cache {
    size_t past = 0, present = 0;  // an input, and the output that continues it
  };

  using Composed::Composed;

  std::array<Cache, 2> caches;  // of keys, of values
  size_t tokens_input = 0,
         tokens_axis = 0;                 // an input with the new tokens, and the dimension that counts them
  std::shared_ptr<const Operator> fixed;  // the form of fixed capacity
  size_t length_input = 0;                // of `fixed`: int32 or int64 of shape (1) or (batch)
  // For caches from which the operator evicts tokens before its window: the operator with caches of all
  // tokens, which has the same results. Otherwise null.
  std::shared_ptr<const GrowingAttention> without_eviction;
};

}  // namespace vellum
