// The table of strategies, and what surrounds each: checks before, bounds and the plan's extents after.
#include <algorithm>
#include <array>
#include <string>

#include "bounds.hpp"
#include "objects/assignment.hpp"
#include "offsets/assignment.hpp"
#include "problem.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum::planner {
namespace {

using detail::RecordClass;

struct ObjectRow {
  ObjectStrategy strategy;
  std::string_view name;
  detail::ObjectAssignment (*solve)(const RecordClass&);  // null: the smallest of the rows above
};
constexpr std::array kObjectTable{
    ObjectRow{ObjectStrategy::naive, "naive", detail::objects_naive},
    ObjectRow{ObjectStrategy::equality, "equality", detail::objects_equality},
    ObjectRow{ObjectStrategy::greedy_in_order, "greedy_in_order", detail::objects_greedy_in_order},
    ObjectRow{ObjectStrategy::greedy_by_size, "greedy_by_size", detail::objects_greedy_by_size},
    ObjectRow{ObjectStrategy::greedy_by_size_improved, "greedy_by_size_improved",
              detail::objects_greedy_by_size_improved},
    ObjectRow{ObjectStrategy::greedy_by_breadth, "greedy_by_breadth", detail::objects_greedy_by_breadth},
    ObjectRow{ObjectStrategy::best, "best", nullptr},
};

struct OffsetRow {
  OffsetStrategy strategy;
  std::string_view name;
  detail::OffsetAssignment (*solve)(const RecordClass&);
};
constexpr std::array kOffsetTable{
    OffsetRow{OffsetStrategy::naive, "naive", detail::offsets_naive},
    OffsetRow{OffsetStrategy::greedy_by_size, "greedy_by_size", detail::offsets_greedy_by_size},
    OffsetRow{OffsetStrategy::greedy_by_breadth, "greedy_by_breadth", detail::offsets_greedy_by_breadth},
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
    known += (known.empty() ? "" : ", ") + std::string(row.name);
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

// Adds the objects of one class to the plan: each covers the items it carries.
void append(const RecordClass& records, const detail::ObjectAssignment& object_of, ObjectPlan& plan) {
  const auto base = static_cast<uint32_t>(plan.objects.size());
  const uint32_t count = *std::max_element(object_of.begin(), object_of.end()) + 1;
  std::vector<detail::Extent> extents(count, detail::Extent{0, 0, 0});
  for (size_t i = 0; i < object_of.size(); ++i) {
    extents[object_of[i]] = detail::cover(extents[object_of[i]], records.items[i].extent);
    plan.object_of[records.items[i].record] = base + object_of[i];
  }
  for (const detail::Extent& extent : extents) {
    plan.objects.push_back(records.size_of(extent));
    plan.total_bytes += records.bytes_of(extent);
  }
}

ObjectPlan solve(const std::vector<RecordClass>& classes, const ObjectRow& row) {
  ObjectPlan plan;
  size_t count = 0;
  for (const RecordClass& records : classes) count += records.items.size();
  plan.object_of.resize(count);
  for (const RecordClass& records : classes) append(records, row.solve(records), plan);
  return plan;
}

OffsetPlan solve(const RecordClass& records, const OffsetRow& row) {
  OffsetPlan plan;
  plan.offset_of = row.solve(records);  // items are in record order
  for (size_t i = 0; i < plan.offset_of.size(); ++i) {
    plan.total_bytes = std::max(plan.total_bytes, plan.offset_of[i] + records.items[i].bytes);
  }
  return plan;
}

// The first of the smallest, in the order of the table.
template <typename Records, typename Table, typename Row>
auto solve_or_best(const Records& records, const Table& table, const Row& row) {
  if (row.solve) return solve(records, row);
  auto best = solve(records, table.front());
  for (const auto& other : table) {
    if (!other.solve) continue;
    auto plan = solve(records, other);
    if (plan.total_bytes < best.total_bytes) best = std::move(plan);
  }
  return best;
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
  ObjectPlan plan = solve_or_best(classes, kObjectTable, row_of(kObjectTable, strategy));
  plan.lower_bound = detail::objects_lower_bound(classes);
  plan.proved_optimal = plan.total_bytes == plan.lower_bound;
  return plan;
}

OffsetPlan plan_offsets(std::span<const TensorUsageRecord> records, OffsetStrategy strategy,
                        const PlanOptions& options) {
  refuse_textures(records);
  const RecordClass all = detail::as_bytes(records, options);
  OffsetPlan plan = solve_or_best(all, kOffsetTable, row_of(kOffsetTable, strategy));
  plan.lower_bound = detail::offsets_lower_bound(all);
  plan.proved_optimal = plan.total_bytes == plan.lower_bound;
  return plan;
}

}  // namespace vellum::planner
