// The strategies for shared objects. Each solves one class of records, and has its own file.
#pragma once

#include <cstdint>
#include <vector>

#include "../problem.hpp"

namespace vellum::planner::detail {

// The object of each item. Objects are numbered from 0 without gaps. An object's extent is the smallest that
// covers its items.
using ObjectAssignment = std::vector<uint32_t>;

// Gives each tensor its own object.
ObjectAssignment objects_naive(const RecordClass& records);
// Lets only tensors of exactly the same extent share an object.
ObjectAssignment objects_equality(const RecordClass& records);
// Assigns tensors in execution order to the best fit; if none is large enough, the nearest smaller object
// grows (Lee et al. 2019, arXiv 1907.01989, section 4.1).
ObjectAssignment objects_greedy_in_order(const RecordClass& records);
// Finds the cheapest succession of tensors in each object, as a minimum-cost flow (same section). Its time
// grows with the number of pairs of tensors; if that exceeds kMinCostFlowMostSteps, it returns the result of
// objects_greedy_in_order().
ObjectAssignment objects_min_cost_flow(const RecordClass& records);
inline constexpr size_t kMinCostFlowMostRecords = 2000;
inline constexpr uint64_t kMinCostFlowMostSteps = 40'000'000;  // some 0.4 s
// The strategies of Pisarchyk & Lee 2020 (arXiv 2001.03288), sections 4.2 to 4.4.
ObjectAssignment objects_greedy_by_breadth(const RecordClass& records);
ObjectAssignment objects_greedy_by_size(const RecordClass& records);
ObjectAssignment objects_greedy_by_size_improved(const RecordClass& records);

}  // namespace vellum::planner::detail
