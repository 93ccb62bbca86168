// Counts the loop iterations of an invocation, for Dispatch::iterations.
#pragma once

#include <algorithm>
#include <cstdint>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// An allowance for loops that are short for all shapes: over the texels of a tile, the lanes of a workgroup
// or the dimensions of a tensor.
inline constexpr uint64_t kShortLoops = 256;

// Returns the most rounds that one invocation should run if a workgroup can share them. A longer loop leaves
// most of a device idle, and comes near the limit at which drivers end loops
// (DeviceCaps::max_loop_iterations).
inline int64_t most_rounds_alone(const DeviceCaps& caps) {
  return std::min<int64_t>(16384, caps.max_loop_iterations / 4);
}

// Returns the iterations of a loop of `count` rounds with `in_each` iterations of inner loops in each round,
// plus one for the check that ends the loop.
constexpr uint64_t loop_iterations(int64_t count, uint64_t in_each = 0) {
  return static_cast<uint64_t>(std::max<int64_t>(count, 0)) * (1 + in_each) + 1;
}

// Returns the iterations of the loops over `slices` slices of x. With fp16 partial sums (`in_runs`), or if x
// is a folded image, an outer loop over runs or columns may restart the inner one for each slice. A further
// loop handles the remaining slices that are not loaded several at a time.
inline uint64_t slice_iterations(const TensorDesc& x, int64_t slices, bool in_runs) {
  return loop_iterations(slices, in_runs || x.fold > 0 ? 2 : 0) + 4;
}

// Returns the iterations of loops over a window of kernel_x x kernel_y taps, with `in_each` for each tap.
constexpr uint64_t window_iterations(int64_t kernel_x, int64_t kernel_y, uint64_t in_each) {
  return loop_iterations(kernel_y, loop_iterations(kernel_x, in_each));
}

}  // namespace vellum
