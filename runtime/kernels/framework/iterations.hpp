// Counts what the loops of an invocation run, for Dispatch::iterations.
#pragma once

#include <algorithm>
#include <cstdint>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Covers the loops of a kernel that are short whatever the shapes: over the texels of a tile, the lanes of a
// workgroup or the dimensions of a tensor.
inline constexpr uint64_t kShortLoops = 256;

// Returns the most rounds that one invocation should run where a workgroup can share them: one that runs
// longer leaves most of a device idle, and comes near to what drivers end (DeviceCaps::max_loop_iterations).
inline int64_t most_rounds_alone(const DeviceCaps& caps) {
  return std::min<int64_t>(16384, caps.max_loop_iterations / 4);
}

// Returns the iterations of a loop of `count` rounds: each round with those of the loops in it, and one for
// the check that ends the loop.
constexpr uint64_t loop_iterations(int64_t count, uint64_t in_each = 0) {
  return static_cast<uint64_t>(std::max<int64_t>(count, 0)) * (1 + in_each) + 1;
}

// Returns the iterations of the loops over `slices` slices of x. With fp16 partial sums (`in_runs`), or where
// x is a folded image, an outer loop over runs or columns may begin the inner one anew for each slice. One
// more loop takes the slices that are not loaded several at a time.
inline uint64_t slice_iterations(const TensorDesc& x, int64_t slices, bool in_runs) {
  return loop_iterations(slices, in_runs || x.fold > 0 ? 2 : 0) + 4;
}

// Returns the iterations of loops over a window of kernel_x x kernel_y taps, with `in_each` for each tap.
constexpr uint64_t window_iterations(int64_t kernel_x, int64_t kernel_y, uint64_t in_each) {
  return loop_iterations(kernel_y, loop_iterations(kernel_x, in_each));
}

}  // namespace vellum
