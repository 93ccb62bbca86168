// The time of the gates of squeeze-and-excitation, which a workgroup computes.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

// Returns the loads of an invocation that wait for one another while a workgroup computes gates of that many
// products; `ahead`: slices whose weights are loaded together.
double gate_steps(int64_t products, int64_t invocations, int64_t ahead = 1);

// Whether the last workgroup of a dispatch, of `invocations`, should compute the gates, that many products,
// of what the dispatch stores: it takes no dispatch of its own, but has fewer invocations.
bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations);

}  // namespace vellum
