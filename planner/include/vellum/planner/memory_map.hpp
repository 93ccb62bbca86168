// Draws a plan: time from left to right, addresses upwards, one rectangle for each tensor (the picture of
// strip packing in Sekiyama et al. 2018).
#pragma once

#include <span>
#include <string>

#include "vellum/planner/plan_report.hpp"

namespace vellum::planner {

// Returns a self-contained SVG document, 1000 units wide. Objects are stacked; the unused rest of an object
// stays grey. `names`: one tooltip for each record, or empty.
std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title);

}  // namespace vellum::planner
