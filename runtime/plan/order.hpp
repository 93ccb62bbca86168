// Execution orders with a lower peak of live bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.hpp"
#include "plan/memory_needs.hpp"

namespace vellum {

// Returns for each task the earlier tasks that it depends on: those that write what it reads or writes, and
// those that read what it writes; without those on which a later one that overwrote all of it depends. A host
// partition depends on every task before it, and every later task depends on it.
std::vector<std::vector<size_t>> dependencies(const Program& program);

struct LowPeakOrder {
  std::vector<size_t> tasks;
  uint64_t peak_bytes = 0;  // the most that are live at a time
  // No order has a lower peak, so no plan of any order needs less memory. Where this is peak_bytes, the order
  // is proved to be one of the best.
  uint64_t bound_bytes = 0;
};

// Returns an order of the tasks that respects their dependencies and has the lowest peak of live bytes that a
// beam search finds. Its states are sets of completed tasks; of equal sets the one with the lower peak is
// kept. The search goes on with all states that may lead to a lower peak until it finds one, or none is left,
// which is the proof (as Ahn et al., Ordering Chaos: Memory-Aware Scheduling of Irregularly Wired Neural
// Networks for Edge Devices, MLSys 2020, by dynamic programming), or the work is spent. `in_place`: an output
// that may alias its input counts no bytes. Deterministic; the work is bounded whatever the program.
LowPeakOrder order_with_low_peak(const Program& program, const MemoryRules& rules, bool in_place);

// Permutes the tasks: task i becomes the former task order[i].
void apply_order(Program& program, const std::vector<size_t>& order);

}  // namespace vellum
