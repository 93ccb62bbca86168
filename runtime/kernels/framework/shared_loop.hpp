// Loops that compute one result each, such as a texel or a row, and how invocations share them
// (cooperate.glsl).
#pragma once

#include <cstdint>

#include "kernels/framework/grid.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The invocations that share a loop: a single one, a subgroup, or a workgroup. A workgroup combines the
// results of its invocations in shared memory; workgroup_of_subgroups first reduces each subgroup by subgroup
// arithmetic.
enum class LoopBy : uint8_t { invocation, subgroup, workgroup, workgroup_of_subgroups };

struct SharedLoop {
  int64_t results = 0;
  int64_t length = 0;  // rounds of the loop of one result
  bool along = false;  // successive rounds read contiguous memory
  // The iterations of a round: one for each loop over `length`, plus those of inner loops.
  uint64_t iterations = 1;
};

// Returns the choice of the cost model.
LoopBy loop_by(const DeviceCaps& caps, const SharedLoop& loop);
// Returns the best choice that stays within the device's bound on iterations. It follows measurements if
// there are any. Call it before reading inputs.
LoopBy choose_loop(Lowering& lowering, const SharedLoop& loop);

// A loop split into segments, for two dispatches: the first computes a partial result of each segment, the
// second reduces the partial results.
struct Segments {
  int64_t count = 1;   // 1: the loop is not split
  int64_t length = 0;  // rounds of each segment; the last may have fewer
  bool are_many() const { return count > 1; }
};
// Returns a single segment if a workgroup can run the loop within the device's bound on iterations, and the
// loop is short enough that splitting would not be faster. The bound also applies on GPUs, whose watchdog
// ends long dispatches.
Segments split_loop(const DeviceCaps& caps, const SharedLoop& loop);
// Returns the loops over the segments of all results.
SharedLoop loop_of_segments(const SharedLoop& loop, const Segments& segments);

// Returns a dispatch with one loop for each of `loop.results`, whose index is result_index() in the shader.
// The dispatch declares its iterations.
Dispatch loop_dispatch(const DeviceCaps& caps, std::string shader, const SharedLoop& loop, LoopBy by,
                       std::vector<Binding> bindings, Parameters parameters);

}  // namespace vellum
