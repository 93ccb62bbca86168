// Attention whose keys are split among invocations where its queries are too few for the device.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

struct KeySplit {
  int64_t parts = 1;
  int64_t keys = 1;  // of a part; the last may have fewer

  bool is_split() const { return parts > 1; }
};

// Returns the split of `keys` where `invocations` see all of them. `row_bytes`: of what a part stores for all
// queries, which bounds the parts by what a buffer may hold. `most_keys`: what an invocation sees at most.
KeySplit key_split(const DeviceCaps& caps, int64_t invocations, int64_t keys, int64_t row_bytes,
                   int64_t most_keys);

}  // namespace vellum
