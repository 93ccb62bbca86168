// A plan as a picture: time across, memory up, one rectangle a tensor (the strip packing of Sekiyama et al.
// 2018).
#pragma once

#include <span>
#include <string>

#include "vellum/planner/plan_report.hpp"

namespace vellum::planner {

// A self-contained SVG document, 1000 units wide. Objects lie on top of one another; what a tensor leaves free
// of its object stays grey. `names`, per record, are shown when the mouse rests on a tensor; it may be empty.
std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title);

}  // namespace vellum::planner
