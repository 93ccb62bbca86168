#include "plan_json.hpp"

#include <nlohmann/json.hpp>

namespace vellum::cli {

nlohmann::json plan_json(const planner::PlanReport& report) {
  nlohmann::json plans = nlohmann::json::array();
  for (const planner::PlanRow& row : report.plans) {
    plans.push_back({{"strategy", row.strategy},
                     {"mode", planner::name(row.mode)},
                     {"total_bytes", row.total_bytes},
                     {"object_count", row.object_count},
                     {"proved_optimal", row.proved_optimal},
                     {"lower_bound_bytes", row.lower_bound},
                     {"assignment", row.assignment}});
  }
  nlohmann::json object{{"plans", std::move(plans)},
                        {"naive_bytes", report.naive_bytes},
                        {"objects_lower_bound_bytes", report.objects_lower_bound},
                        {"offsets_lower_bound_bytes", report.offsets_lower_bound}};
  if (report.any_order_bound > 0) object["any_order_bound_bytes"] = report.any_order_bound;
  return object;
}

}  // namespace vellum::cli
