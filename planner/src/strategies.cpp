// The table of strategies, the checks before each, and the bounds and the plan's extents after it.
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "bounds.hpp"
#include "objects/assignment.hpp"
#include "objects/exact.hpp"
#include "offsets/assignment.hpp"
#include "offsets/exact.hpp"
#include "problem.hpp"
#include "search_budget.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum::planner {
namespace {

using detail::RecordClass;

struct ObjectRow {
  ObjectStrategy strategy;
  std::string_view name;
  detail::ObjectAssignment (*solve)(
      const RecordClass&);  // null: the smallest of the rows above, then a search
  size_t most_records = std::numeric_limits<size_t>::max();
};
constexpr std::array kObjectTable{
    ObjectRow{ObjectStrategy::naive, "naive", detail::objects_naive},
    ObjectRow{ObjectStrategy::equality, "equality", detail::objects_equality},
    ObjectRow{ObjectStrategy::greedy_in_order, "greedy_in_order", detail::objects_greedy_in_order},
    ObjectRow{ObjectStrategy::greedy_by_size, "greedy_by_size", detail::objects_greedy_by_size},
    ObjectRow{ObjectStrategy::greedy_by_size_improved, "greedy_by_size_improved",
              detail::objects_greedy_by_size_improved},
    ObjectRow{ObjectStrategy::greedy_by_breadth, "greedy_by_breadth", detail::objects_greedy_by_breadth},
    ObjectRow{ObjectStrategy::min_cost_flow, "min_cost_flow", detail::objects_min_cost_flow,
              detail::kMinCostFlowMostRecords},
    ObjectRow{ObjectStrategy::exact, "exact", nullptr},
    ObjectRow{ObjectStrategy::best, "best", nullptr},
};

struct OffsetRow {
  OffsetStrategy strategy;
  std::string_view name;
  detail::OffsetAssignment (*solve)(const RecordClass&);
  size_t most_records = std::numeric_limits<size_t>::max();
};
constexpr std::array kOffsetTable{
    OffsetRow{OffsetStrategy::naive, "naive", detail::offsets_naive},
    OffsetRow{OffsetStrategy::greedy_in_order, "greedy_in_order", detail::offsets_greedy_in_order},
    OffsetRow{OffsetStrategy::greedy_by_size, "greedy_by_size", detail::offsets_greedy_by_size},
    OffsetRow{OffsetStrategy::greedy_by_breadth, "greedy_by_breadth", detail::offsets_greedy_by_breadth},
    OffsetRow{OffsetStrategy::strip_packing_best_fit, "strip_packing_best_fit",
              detail::offsets_strip_packing_best_fit},
    OffsetRow{OffsetStrategy::exact, "exact", nullptr},
    OffsetRow{OffsetStrategy::best, "best", nullptr},
};

template <typename Table, typename Strategy>
const auto& row_of(const Table& table, Strategy strategy) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.strategy == strategy; });
  if (row == table.end()) throw PlanError("unknown strategy");
  return *row;
}

template <typename Table>
auto strategy_named(const Table& table, std::string_view name, std::string_view mode) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == name) return row.strategy;
    if (!known.empty()) known += ", ";
    known += row.name;
  }
  throw PlanError("no strategy \"" + std::string(name) + "\" for " + std::string(mode) + "; there are " +
                  known);
}

template <typename Strategy, typename Table>
constexpr auto strategies_of(const Table& table) {
  std::array<Strategy, std::tuple_size_v<Table>> all{};
  std::transform(table.begin(), table.end(), all.begin(), [](const auto& row) { return row.strategy; });
  return all;
}
constexpr auto kObjectStrategies = strategies_of<ObjectStrategy>(kObjectTable);
constexpr auto kOffsetStrategies = strategies_of<OffsetStrategy>(kOffsetTable);

// Returns the bytes of the objects of one class, and optionally the objects: each covers its items.
uint64_t total_of(const RecordClass& records, const detail::ObjectAssignment& object_of,
                  std::vector<Size>* objects = nullptr) {
  const uint32_t count = *std::max_element(object_of.begin(), object_of.end()) + 1;
  std::vector<detail::Extent> extents(count);
  for (size_t i = 0; i < object_of.size(); ++i) {
    extents[object_of[i]] = detail::cover(extents[object_of[i]], records.items[i].extent);
  }
  uint64_t total = 0;
  for (const detail::Extent& extent : extents) {
    if (objects) objects->push_back(records.size_of(extent));
    total += records.bytes_of(extent);
  }
  return total;
}

uint64_t total_of(const RecordClass& records, const detail::OffsetAssignment& offset_of) {
  uint64_t total = 0;
  for (size_t i = 0; i < offset_of.size(); ++i)
    total = std::max(total, offset_of[i] + records.items[i].bytes);
  return total;
}

// Greedy by size improved compares every pair where sizes have several dimensions.
bool is_slow(ObjectStrategy strategy, const RecordClass& records) {
  constexpr size_t kMostPairedRecords = 4096;
  return strategy == ObjectStrategy::greedy_by_size_improved && !records.one_dimensional() &&
         records.items.size() > kMostPairedRecords / (1 + records.widths.size() / 8);
}
bool is_slow(OffsetStrategy, const RecordClass&) { return false; }

// Returns the smallest assignment of all strategies that do not search; of equals the first in the table.
template <typename Table>
auto smallest(const RecordClass& records, const Table& table) {
  auto best = table.front().solve(records);
  uint64_t best_total = total_of(records, best);
  for (const auto& row : table) {
    if (!row.solve || records.items.size() > row.most_records || is_slow(row.strategy, records)) continue;
    auto candidate = row.solve(records);
    const uint64_t total = total_of(records, candidate);
    if (total >= best_total) continue;
    best = std::move(candidate);
    best_total = total;
  }
  return best;
}

// Classes share nothing, so each is solved separately.
detail::ExactObjects solve(const RecordClass& records, const ObjectRow& row, uint64_t target,
                           detail::SearchBudget& budget) {
  if (!row.solve) return detail::improve_objects(records, smallest(records, kObjectTable), target, budget);
  return {row.solve(records), detail::objects_lower_bound({records})};
}

detail::ExactOffsets solve(const RecordClass& records, const OffsetRow& row, uint64_t target,
                           detail::SearchBudget& budget) {
  if (!row.solve) return detail::improve_offsets(records, smallest(records, kOffsetTable), target, budget);
  return {row.solve(records), detail::offsets_lower_bound(records)};
}

bool is_covered(const Texture2D& tensor, const Size& object) {
  const auto& texture = std::get<Texture2D>(object);
  return texture.width >= tensor.width && texture.height >= tensor.height;
}

// Returns the first extent of the record that the object covers.
Size extent_within(const TensorUsageRecord& record, const Size& object) {
  if (record.other_extents.empty() || is_covered(std::get<Texture2D>(record.size), object))
    return record.size;
  return *std::ranges::find_if(record.other_extents,
                               [&](const Texture2D& other) { return is_covered(other, object); });
}

void refuse_textures(std::span<const TensorUsageRecord> records) {
  for (size_t i = 0; i < records.size(); ++i) {
    if (!std::holds_alternative<Bytes>(records[i].size)) {
      throw PlanError("record " + std::to_string(i) +
                      ": a texture has no size inside an arena until the device gives " +
                      "one; offsets are planned for bytes only");
    }
  }
}

}  // namespace

std::string_view name(ObjectStrategy strategy) { return row_of(kObjectTable, strategy).name; }
size_t most_records(ObjectStrategy strategy) { return row_of(kObjectTable, strategy).most_records; }
std::string_view name(OffsetStrategy strategy) { return row_of(kOffsetTable, strategy).name; }
std::span<const ObjectStrategy> all_object_strategies() { return kObjectStrategies; }
std::span<const OffsetStrategy> all_offset_strategies() { return kOffsetStrategies; }
ObjectStrategy object_strategy_from_name(std::string_view name) {
  return strategy_named(kObjectTable, name, "objects");
}
OffsetStrategy offset_strategy_from_name(std::string_view name) {
  return strategy_named(kOffsetTable, name, "offsets");
}

ObjectPlan plan_objects(std::span<const TensorUsageRecord> records, ObjectStrategy strategy,
                        const PlanOptions& options) {
  const auto classes = detail::classify(records, options);
  const ObjectRow& row = row_of(kObjectTable, strategy);
  if (records.size() > row.most_records) {
    throw PlanError(std::string(row.name) + " takes " + std::to_string(row.most_records) +
                    " records at most, not " + std::to_string(records.size()));
  }
  detail::SearchBudget budget(options.search_budget);
  ObjectPlan plan;
  plan.object_of.resize(records.size());
  for (const RecordClass& each : classes) {
    // The target of this class is what the earlier classes leave.
    const uint64_t target = options.target_bytes - std::min(options.target_bytes, plan.total_bytes);
    const auto [object_of, lower_bound] = solve(each, row, target, budget);
    const auto base = static_cast<uint32_t>(plan.objects.size());
    for (size_t i = 0; i < object_of.size(); ++i) plan.object_of[each.items[i].record] = base + object_of[i];
    plan.total_bytes += total_of(each, object_of, &plan.objects);
    plan.lower_bound += lower_bound;
  }
  plan.proved_optimal = plan.total_bytes == plan.lower_bound;
  for (size_t i = 0; i < records.size(); ++i)
    plan.size_of.push_back(extent_within(records[i], plan.objects[plan.object_of[i]]));
  return plan;
}

OffsetPlan plan_offsets(std::span<const TensorUsageRecord> records, OffsetStrategy strategy,
                        const PlanOptions& options) {
  refuse_textures(records);
  const RecordClass all = detail::as_bytes(records, options);
  detail::SearchBudget budget(options.search_budget);
  OffsetPlan plan;
  auto [offset_of, lower_bound] = solve(all, row_of(kOffsetTable, strategy), options.target_bytes, budget);
  plan.offset_of = std::move(offset_of);  // items are in record order
  plan.total_bytes = total_of(all, plan.offset_of);
  plan.lower_bound = lower_bound;
  plan.proved_optimal = plan.total_bytes == plan.lower_bound;
  return plan;
}

}  // namespace vellum::planner
