// Splits the keys of an attention among invocations if there are too few queries to occupy the device.
// key_split() splits across workgroups: each part stores a partial result in memory, and another dispatch
// merges the parts. key_sharing() splits within a workgroup, which merges the partial results in shared
// memory.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

struct KeySplit {
  int64_t parts = 1;
  int64_t keys = 1;  // keys of each part; the last part may have fewer

  bool is_split() const { return parts > 1; }
};

// Returns the split of `keys`. `invocations`: the number of invocations without a split. `row_bytes`: bytes
// that a part stores for all queries; the largest buffer bounds the number of parts. `most_keys`: the largest
// number of keys of a part.
KeySplit key_split(const DeviceCaps& caps, int64_t invocations, int64_t keys, int64_t row_bytes,
                   int64_t most_keys);

// The keys of one token, shared by `invocations` invocations of a workgroup with `keys` keys each. 1
// invocation: the keys are not shared.
struct KeySharing {
  int64_t invocations = 1, keys = 0;
};
// Returns how the invocations of a workgroup share `keys`, if one invocation for each of `tokens` would not
// fill the device.
KeySharing key_sharing(const DeviceCaps& caps, int64_t tokens, int64_t keys);

}  // namespace vellum
