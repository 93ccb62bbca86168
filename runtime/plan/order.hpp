// Execution orders that need less memory at their worst.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.hpp"
#include "plan/memory_needs.hpp"

namespace vellum {

// For each task, the earlier ones that it has to come after: those that write what it touches, and that read
// what it writes. Host calls stay where they are: every task before one stays before it.
std::vector<std::vector<size_t>> dependencies(const Program& program);

// An order of the tasks that respects their dependencies, in which as few bytes of tensors live at once as
// beam search finds (its states are sets of tasks done; of equal sets the one with the lower peak stays).
// Where `in_place`, an output that may take over its input's memory takes none. Deterministic, and the work
// is bounded whatever the program.
std::vector<size_t> order_with_low_peak(const Program& program, const MemoryRules& rules, bool in_place);

void apply_order(Program& program, const std::vector<size_t>& order);

}  // namespace vellum
