// Lower bounds of plans.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace vellum::planner::detail {

// Returns the positional maxima (Pisarchyk & Lee 2020, section 3): sort the sizes live at each task in
// descending order; the i-th positional maximum is the largest i-th size over all tasks. The result has as
// many entries as the largest number of tensors that are live at once.
std::vector<uint64_t> positional_maxima(const RecordClass& records);

// Return bytes that no plan of shared objects, or of offsets, can go below.
uint64_t objects_lower_bound(const std::vector<RecordClass>& classes);
uint64_t offsets_lower_bound(const RecordClass& records);

}  // namespace vellum::planner::detail
