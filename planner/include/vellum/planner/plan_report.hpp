// Several plans for the same records, side by side: the output of `vellum plan` as a table, CSV and JSON.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/planner/plan.hpp"

namespace vellum::planner {

enum class PlanMode { objects, offsets };

std::string_view name(PlanMode);
PlanMode plan_mode_from_name(std::string_view);  // throws PlanError, which lists the names

// One plan of a report.
struct PlanRow {
  std::string strategy;
  PlanMode mode = PlanMode::objects;
  uint64_t total_bytes = 0;
  uint64_t lower_bound = 0;
  uint64_t object_count = 0;  // objects mode: shared objects; offsets mode: the one arena
  bool proved_optimal = false;
  bool smallest = false;               // no plan of this mode in the report is smaller
  std::vector<uint64_t> assignment;    // per record: index of its object, or its byte offset
  std::vector<uint64_t> object_bytes;  // per object, as in total_bytes; empty in mode offsets
};

struct PlanReport {
  size_t record_count = 0;
  std::vector<PlanRow> plans;  // objects before offsets, each in the order of the strategies' table
  uint64_t naive_bytes = 0;
  uint64_t objects_lower_bound = 0;
  uint64_t offsets_lower_bound = 0;
  // No plan of any order of the tasks is smaller. 0: unknown, because records alone do not determine it.
  uint64_t any_order_bound = 0;
};

// Plans the records with the named strategy, or with every strategy for "all". Without a mode it plans in
// each mode that has the strategy, but not in mode offsets if there are textures. Every plan is validated.
// Throws PlanError for a name that the mode does not have.
PlanReport make_plan_report(std::span<const TensorUsageRecord> records, std::string_view strategy,
                            std::optional<PlanMode> mode, const PlanOptions& options = {});

// Formats a table for each mode; * marks the smallest total, = a total proved to be optimal.
std::string plan_table(const PlanReport& report);

// Writes the records as write_records_csv() does, with one more column "mode:strategy" for each plan.
void write_plan_csv(std::ostream& out, std::span<const std::string> ids,
                    std::span<const TensorUsageRecord> records, const PlanReport& report);

}  // namespace vellum::planner
