#include "kernels/matmul/key_split.hpp"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "cost/subgroups.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kWholeRuns = 16;  // keys of whole runs of fp16 sums, and of whole texels of a mask

}  // namespace

KeySplit key_split(const DeviceCaps& caps, int64_t invocations, int64_t keys, int64_t row_bytes,
                   int64_t most_keys) {
  // The loads of four keys take half a microsecond or more, and the dispatch that merges parts five to ten:
  // with fewer keys a split gains nothing.
  constexpr int64_t kWorthADispatch = 128, kFewestKeys = 32;
  const KeySplit whole{1, keys};
  if (keys < kWorthADispatch) return whole;
  const int64_t enough = invocations_to_fill(caps);
  // A part has whole runs of keys, and at most most_keys.
  const int64_t least = divide_up(keys, std::max(most_keys / kWholeRuns, int64_t{1}) * kWholeRuns);
  const int64_t parts = std::min(std::max(least, std::min(enough / invocations, keys / kFewestKeys)),
                                 static_cast<int64_t>(caps.max_storage_buffer_range) / row_bytes);
  if (parts < 2) return whole;
  const int64_t length = divide_up(divide_up(keys, parts), kWholeRuns) * kWholeRuns;
  return {divide_up(keys, length), length};
}

KeySharing key_sharing(const DeviceCaps& caps, int64_t tokens, int64_t keys) {
  constexpr int64_t kMost = 16, kFewestKeys = 12;
  KeySharing sharing{1, keys};
  if (!device_traits(caps).attention_shares_keys) return sharing;
  while (sharing.invocations < kMost && 2 * sharing.invocations * tokens <= invocations_to_fill(caps) &&
         keys >= 2 * sharing.invocations * kFewestKeys)
    sharing.invocations *= 2;
  if (sharing.invocations > 1)
    sharing.keys = divide_up(divide_up(keys, sharing.invocations), kWholeRuns) * kWholeRuns;
  return sharing;
}

}  // namespace vellum
