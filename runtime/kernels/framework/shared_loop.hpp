// Loops that make one result each, of a texel or a row: who runs them (shaders/cooperate.glsl).
#pragma once

#include <cstdint>

#include "kernels/framework/grid.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// One invocation alone, or all of a subgroup or of a workgroup. A workgroup joins the results of its
// invocations in shared memory, or those of each subgroup by subgroup arithmetic first.
enum class LoopBy : uint8_t { invocation, subgroup, workgroup, workgroup_of_subgroups };

struct SharedLoop {
  int64_t results = 0;
  int64_t length = 0;  // of the loop that makes one
  bool along = false;  // over neighbours in memory
};

// The one that the cost model prefers.
LoopBy loop_by(const DeviceCaps& caps, const SharedLoop& loop);
// The best of those that the device can run. Call it before reading inputs.
LoopBy choose_loop(Lowering& lowering, const SharedLoop& loop);

// A dispatch that makes result_index() of `results`.
Dispatch loop_dispatch(const DeviceCaps& caps, std::string shader, int64_t results, LoopBy by,
                       std::vector<Binding> bindings, Parameters parameters);

}  // namespace vellum
