// The strategies for offsets. Each has its own file.
#pragma once

#include <cstdint>
#include <vector>

#include "../problem.hpp"

namespace vellum::planner::detail {

using OffsetAssignment = std::vector<uint64_t>;  // per item

// No sharing: each tensor above the previous one.
OffsetAssignment offsets_naive(const RecordClass& records);
// Execution order, each tensor in the smallest gap that holds it.
OffsetAssignment offsets_greedy_in_order(const RecordClass& records);
// The greedy strategies of Pisarchyk & Lee 2020 (arXiv 2001.03288), sections 5.2 and 5.1.
OffsetAssignment offsets_greedy_by_size(const RecordClass& records);
OffsetAssignment offsets_greedy_by_breadth(const RecordClass& records);
// Best fit on the skyline (Sekiyama et al. 2018, arXiv 1804.10001).
OffsetAssignment offsets_strip_packing_best_fit(const RecordClass& records);

}  // namespace vellum::planner::detail
