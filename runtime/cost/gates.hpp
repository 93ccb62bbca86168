// The predicted time of squeeze-and-excitation gates that one workgroup computes.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

// Returns the dependent loads of an invocation while a workgroup computes gates with `products`
// multiply-accumulates. `ahead`: slices whose weights are loaded together.
double gate_steps(int64_t products, int64_t invocations, int64_t ahead = 1);

// Returns whether the last workgroup of a dispatch, of `invocations` invocations, should compute the gates of
// the dispatch's results. This saves a dispatch, but a dispatch of its own would have larger workgroups.
bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations);

}  // namespace vellum
