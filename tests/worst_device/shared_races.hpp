// Finds conflicting accesses of shared memory: two invocations access an element without a barrier between
// them, at least one of them writes, and not both are atomic.
#pragma once

#include "worst_device/finding_marks.hpp"

namespace vellum::test {

// Keeps beside each shared variable who accessed each element since when. An element is one of the outermost
// array. Returns what has to run before all else of each invocation. Which conflicts are found does not
// depend on the order in which invocations run.
std::vector<Instruction> find_shared_races(SpirvModule& module, SpirvBuilder& builder, FindingMarks& marks);

}  // namespace vellum::test
