// Counts the iterations that the loops of kernels execute, to compare them with Dispatch::iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum::test {

// Returns GLSL in which each iteration of a loop that is not marked [[unroll]], and the check that ends the
// loop, adds one to `counted_iterations`.
std::string with_counted_loops(std::string_view glsl);

struct CountedLoops {
  std::string kernel;     // the shader with its macros
  uint64_t declared = 0;  // Dispatch::iterations
  uint64_t counted = 0;   // the largest count of one invocation
};

// Runs the program once with counting loops, and returns the counts of its dispatches. The device must not
// terminate loops of this length.
std::vector<CountedLoops> count_iterations(const std::shared_ptr<gpu::Context>& context, Program program,
                                           const std::vector<HostTensor>& inputs);

}  // namespace vellum::test
