#include "vellum/planner/plan_report.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

#include "arithmetic.hpp"
#include "vellum/planner/records_csv.hpp"

namespace vellum::planner {
namespace {

// Returns the strategies of that name, or all of them; nothing if there is none.
template <typename Strategy>
std::vector<Strategy> chosen(std::span<const Strategy> all, std::string_view strategy) {
  std::vector<Strategy> found;
  for (const Strategy s : all) {
    if (strategy == "all" || strategy == name(s)) found.push_back(s);
  }
  return found;
}

// Fills the fields that plans of objects and of offsets have in common.
template <typename Plan, typename Strategy>
PlanRow checked_row(std::span<const TensorUsageRecord> records, const Plan& plan, Strategy strategy,
                    PlanMode mode, const PlanOptions& options) {
  validate(records, plan, options);
  PlanRow row;
  row.strategy = name(strategy);
  row.mode = mode;
  row.total_bytes = plan.total_bytes;
  row.lower_bound = plan.lower_bound;
  row.proved_optimal = plan.proved_optimal;
  return row;
}

PlanRow object_row(std::span<const TensorUsageRecord> records, ObjectStrategy strategy,
                   const PlanOptions& options) {
  const ObjectPlan plan = plan_objects(records, strategy, options);
  PlanRow row = checked_row(records, plan, strategy, PlanMode::objects, options);
  row.object_count = plan.objects.size();
  row.assignment.assign(plan.object_of.begin(), plan.object_of.end());
  for (const Size& size : plan.objects) {
    const uint64_t bytes = options.object_bytes ? options.object_bytes(size) : byte_size(size);
    row.object_bytes.push_back(detail::checked_align(bytes, options.alignment).value());  // validated above
  }
  return row;
}

PlanRow offset_row(std::span<const TensorUsageRecord> records, OffsetStrategy strategy,
                   const PlanOptions& options) {
  const OffsetPlan plan = plan_offsets(records, strategy, options);
  PlanRow row = checked_row(records, plan, strategy, PlanMode::offsets, options);
  row.object_count = records.empty() ? 0 : 1;
  row.assignment = plan.offset_of;
  return row;
}

void mark_smallest(std::vector<PlanRow>& plans) {
  for (const PlanMode mode : {PlanMode::objects, PlanMode::offsets}) {
    uint64_t smallest = std::numeric_limits<uint64_t>::max();
    for (const PlanRow& row : plans) {
      if (row.mode == mode) smallest = std::min(smallest, row.total_bytes);
    }
    for (PlanRow& row : plans) {
      if (row.mode == mode) row.smallest = row.total_bytes == smallest;
    }
  }
}

// "12,345,678"
std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string mebibytes(uint64_t bytes) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(3) << static_cast<double>(bytes) / (1024.0 * 1024.0);
  return out.str();
}

std::string gap_text(const PlanRow& row) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const auto gap =
      static_cast<double>(row.total_bytes - row.lower_bound) / static_cast<double>(row.lower_bound);
  out << "  at most " << std::fixed << std::setprecision(2) << 100 * gap << "% above the optimum, which is "
      << grouped(row.lower_bound) << " or more";
  return out.str();
}

void table_of(std::ostream& out, const PlanReport& report, PlanMode mode) {
  const uint64_t bound = mode == PlanMode::objects ? report.objects_lower_bound : report.offsets_lower_bound;
  const auto line = [&](std::string_view label, uint64_t bytes, const std::string& objects,
                        std::string_view marks) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << "  " << std::left << std::setw(26) << label << std::right << std::setw(16) << grouped(bytes)
         << std::setw(13) << mebibytes(bytes) << std::setw(9) << objects << "  " << marks;
    std::string row = text.str();
    row.erase(row.find_last_not_of(' ') + 1);
    out << row << '\n';
  };
  out << name(mode) << std::string(26 - name(mode).size() + 2, ' ')
      << "           bytes          MiB  objects\n";
  for (const PlanRow& row : report.plans) {
    if (row.mode != mode) continue;
    std::string marks;
    if (row.smallest) marks += '*';
    if (row.proved_optimal) marks += '=';
    if (row.strategy == name(ObjectStrategy::exact) && !row.proved_optimal) marks += gap_text(row);
    line(row.strategy, row.total_bytes, std::to_string(row.object_count), marks);
  }
  line("(lower bound)", bound, "", "");
  if (report.any_order_bound > 0) line("(bound of any order)", report.any_order_bound, "", "");
}

bool has(const PlanReport& report, PlanMode mode) {
  return std::any_of(report.plans.begin(), report.plans.end(),
                     [&](const PlanRow& row) { return row.mode == mode; });
}

}  // namespace

std::string_view name(PlanMode mode) { return mode == PlanMode::objects ? "objects" : "offsets"; }

PlanMode plan_mode_from_name(std::string_view text) {
  for (const PlanMode mode : {PlanMode::objects, PlanMode::offsets}) {
    if (text == name(mode)) return mode;
  }
  throw PlanError("no mode \"" + std::string(text) + "\"; there are objects, offsets");
}

PlanReport make_plan_report(std::span<const TensorUsageRecord> records, std::string_view strategy,
                            std::optional<PlanMode> mode, const PlanOptions& options) {
  auto objects = chosen(all_object_strategies(), strategy);
  if (strategy == "all") std::erase_if(objects, [&](auto s) { return records.size() > most_records(s); });
  auto offsets = chosen(all_offset_strategies(), strategy);
  const bool textures = std::any_of(records.begin(), records.end(),
                                    [](const auto& r) { return !std::holds_alternative<Bytes>(r.size); });
  if (mode == PlanMode::objects || (!mode && offsets.empty())) {
    if (objects.empty()) object_strategy_from_name(strategy);  // throws
  }
  if (mode == PlanMode::offsets && offsets.empty()) offset_strategy_from_name(strategy);
  if (mode == PlanMode::objects || (!mode && textures)) offsets.clear();
  if (mode == PlanMode::offsets) objects.clear();

  PlanReport report;
  report.record_count = records.size();
  report.naive_bytes = naive_bytes(records, options);
  report.objects_lower_bound = objects_lower_bound(records, options);
  report.offsets_lower_bound = offsets_lower_bound(records, options);
  // `best` and `exact` are the same: the smallest of the others, improved by a search. One search serves
  // both.
  const auto add = [&](auto s, const auto& row) {
    using Strategy = decltype(s);
    const bool again =
        s == Strategy::best && !report.plans.empty() && report.plans.back().strategy == name(Strategy::exact);
    report.plans.push_back(again ? report.plans.back() : row(records, s, options));
    report.plans.back().strategy = name(s);
  };
  for (const ObjectStrategy s : objects) add(s, object_row);
  for (const OffsetStrategy s : offsets) add(s, offset_row);
  mark_smallest(report.plans);
  return report;
}

std::string plan_table(const PlanReport& report) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << report.record_count << " tensors, " << grouped(report.naive_bytes) << " bytes ("
      << mebibytes(report.naive_bytes) << " MiB) without sharing\n\n";
  for (const PlanMode mode : {PlanMode::objects, PlanMode::offsets}) {
    if (!has(report, mode)) continue;
    table_of(out, report, mode);
    out << '\n';
  }
  out << "* smallest   = proved optimal\n";
  return out.str();
}

void write_plan_csv(std::ostream& out, std::span<const std::string> ids,
                    std::span<const TensorUsageRecord> records, const PlanReport& report) {
  std::vector<CsvColumn> columns;
  for (const PlanRow& plan : report.plans) {
    columns.push_back({std::string(name(plan.mode)) + ":" + plan.strategy, plan.assignment});
  }
  write_records_csv(out, ids, records, columns);
}

}  // namespace vellum::planner
