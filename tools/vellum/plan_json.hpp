// The JSON document of `plan --json`, shared by the `vellum` and `vellum-plan` tools.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "vellum/planner/plan_report.hpp"

namespace vellum::cli {

// Returns the report as JSON.
nlohmann::json plan_json(const planner::PlanReport& report);

}  // namespace vellum::cli
