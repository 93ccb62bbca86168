// Loops that compute one result each, of a texel or a row, and the invocations that share them
// (cooperate.glsl).
#pragma once

#include <cstdint>

#include "kernels/framework/grid.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The invocations that run a loop: one alone, all of a subgroup, or all of a workgroup. A workgroup combines
// the results of its invocations in shared memory; workgroup_of_subgroups first combines those of each
// subgroup by subgroup arithmetic.
enum class LoopBy : uint8_t { invocation, subgroup, workgroup, workgroup_of_subgroups };

struct SharedLoop {
  int64_t results = 0;
  int64_t length = 0;  // of the loop of one result
  bool along = false;  // the loop runs over neighbours in memory
  // The iterations that a round takes: one for each loop over the length, and those of the loops in them.
  uint64_t iterations = 1;
};

// Returns the cost model's choice.
LoopBy loop_by(const DeviceCaps& caps, const SharedLoop& loop);
// Returns the best choice that the device can run within the bound of its iterations, tuned if it was
// measured. Call it before reading inputs.
LoopBy choose_loop(Lowering& lowering, const SharedLoop& loop);

// The loop of one result in parts that loops of their own compute, for two dispatches one after the other:
// the first computes a partial result of each segment, the second reduces these.
struct Segments {
  int64_t count = 1;   // 1: the loop is not split
  int64_t length = 0;  // rounds of each; the last one may have fewer
  bool are_many() const { return count > 1; }
};
// Returns one segment where a workgroup runs the loop within the bound of its iterations, and in few enough
// for one workgroup to be as quick as many. That is so on GPUs, too, whose watchdog ends long dispatches.
Segments split_loop(const DeviceCaps& caps, const SharedLoop& loop);
// The loops over these segments, of all results.
SharedLoop loop_of_segments(const SharedLoop& loop, const Segments& segments);

// Returns a dispatch in which each loop computes result_index() of `loop.results`. It declares its
// iterations.
Dispatch loop_dispatch(const DeviceCaps& caps, std::string shader, const SharedLoop& loop, LoopBy by,
                       std::vector<Binding> bindings, Parameters parameters);

}  // namespace vellum
