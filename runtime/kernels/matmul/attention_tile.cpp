#include "kernels/matmul/attention_tile.hpp"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "cost/subgroups.hpp"
#include "kernels/framework/grid.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

// Returns the queries of one invocation: the most whose sums fit in registers while there are enough
// invocations to keep the device busy. `heads`: of all images together.
int64_t tile_of_queries(const DeviceCaps& caps, int64_t queries, int64_t heads, int64_t v_slices) {
  const int64_t sums = device_traits(caps).most_attention_sums, enough = invocations_to_fill(caps);
  int64_t tile = 1;
  while (2 * tile * v_slices <= sums && tile < 8 && tile < queries &&
         divide_up(queries, 2 * tile) * heads >= enough)
    tile *= 2;
  return tile;
}

// Returns how many keys an invocation can process before the driver ends its loops.
int64_t most_keys(const DeviceCaps& caps, int64_t depth_slices, int64_t ahead) {
  const uint64_t most = std::max<uint64_t>(caps.max_loop_iterations, 2 * kShortLoops) - kShortLoops;
  return 4 * static_cast<int64_t>(most / iterations_of_four_keys(depth_slices, ahead));
}

}  // namespace

uint64_t iterations_of_four_keys(int64_t depth_slices, int64_t ahead) {
  constexpr uint64_t kKeyByKey = 5;
  const uint64_t one_by_one = loop_iterations(ahead > 1 ? depth_slices % ahead : depth_slices);
  return 1 + one_by_one + (ahead > 1 ? loop_iterations(depth_slices / ahead) : 0) + kKeyByKey;
}

AttentionTile attention_tile(const DeviceCaps& caps, const Attention::Operands& o) {
  const int64_t heads = o.q.shape[0] * o.q.shape[1], queries = o.q.shape[2], v_slices = slices(o.v.shape[3]);
  const int64_t keys = o.k.shape[2], depth_slices = slices(o.q.shape[3]);
  const int64_t tile = tile_of_queries(caps, queries, heads, v_slices);
  constexpr int64_t kMostAhead = 8;
  int64_t ahead = device_traits(caps).attention_slices_ahead;
  while (ahead < kMostAhead && 2 * ahead <= depth_slices && keys > most_keys(caps, depth_slices, ahead))
    ahead *= 2;
  const KeySplit split =
      key_split(caps, divide_up(queries, tile) * heads, keys, heads * queries * (v_slices + 1) * 16,
                most_keys(caps, depth_slices, ahead));
  const KeySharing sharing = key_sharing(caps, queries * heads, keys);
  // Partial results that a workgroup merges need neither memory nor another dispatch.
  if (tile == 1 && sharing.invocations > 1 && sharing.invocations >= split.parts)
    return {tile, {1, sharing.keys}, sharing.invocations, ahead};
  return {tile, split, 1, ahead};
}

}  // namespace vellum
