// How the kernel of attention divides its work.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "kernels/matmul/key_split.hpp"

namespace vellum {

// The work of an invocation: its queries, the split of the keys across workgroups, the invocations of a
// workgroup that share the keys, and the slices of Q and K that are loaded together.
struct AttentionTile {
  int64_t queries = 1;
  KeySplit split;
  int64_t sharers = 1;
  int64_t ahead = 1;
};

// Returns the loop iterations for four keys: one for each `ahead` slices of Q and K, one for each remaining
// slice, and a loop over the keys (KEY_BY_KEY).
uint64_t iterations_of_four_keys(int64_t depth_slices, int64_t ahead);

// Returns the tile. If one invocation cannot process all keys, it first loads more slices together, which
// takes fewer iterations. Only then are the keys split, because partial results take memory.
AttentionTile attention_tile(const DeviceCaps& caps, const Attention::Operands& o);

}  // namespace vellum
