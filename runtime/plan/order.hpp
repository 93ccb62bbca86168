// Execution orders with a lower peak of live bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/memory_needs.hpp"
#include "program/program.hpp"

namespace vellum {

// Returns for each task the earlier tasks on which it depends: tasks that write a tensor which it reads or
// writes, and tasks that read a tensor which it writes. Dependencies that an intermediate full overwrite
// implies are omitted. A host partition depends on every task before it, and every later task depends on it.
std::vector<std::vector<size_t>> dependencies(const Program& program);

// An execution order, its peak and a lower bound of the peak of every order.
struct LowPeakOrder {
  std::vector<size_t> tasks;
  uint64_t peak_bytes = 0;  // peak of live bytes
  // A proved lower bound: no order has a lower peak, so no plan of any order needs less memory. If it equals
  // peak_bytes, the order is optimal.
  uint64_t bound_bytes = 0;
};

// Returns an order of the tasks that respects their dependencies and has the lowest peak of live bytes that a
// beam search finds. States are sets of completed tasks; of equal sets the one with the lower peak is kept.
// The search then continues with all states that may lead to a lower peak, until it finds one, no state is
// left (which proves the order optimal, as dynamic programming does in Ahn et al., Ordering Chaos:
// Memory-Aware Scheduling of Irregularly Wired Neural Networks for Edge Devices, MLSys 2020), or the work
// limit is reached. `in_place`: an output that may alias its input counts no bytes. Deterministic, with
// bounded work for every program.
LowPeakOrder order_with_low_peak(const Program& program, const MemoryRules& rules, bool in_place);

// Permutes the tasks: task i becomes the former task order[i].
void apply_order(Program& program, const std::vector<size_t>& order);

}  // namespace vellum
