#include "plan/arenas.hpp"

#include <algorithm>
#include <numeric>

#include "program/divide.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

void check_fits(const MemoryNeed& need, const MemoryRules& rules) {
  if (need.bytes > rules.max_allocation_bytes)
    throw Error(ErrorCode::out_of_memory, "an intermediate tensor takes " + std::to_string(need.bytes) +
                                              " bytes, but the device allocates at most " +
                                              std::to_string(rules.max_allocation_bytes) + " at once");
}

// Records that have a memory type in common.
struct Group {
  uint32_t types = UINT32_MAX;
  std::vector<size_t> records;
};

std::vector<Group> group_by_types(std::span<const MemoryNeed> needs) {
  std::vector<Group> groups;
  for (size_t i = 0; i < needs.size(); ++i) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return (g.types & needs[i].memory_types) != 0; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{});
    group->types &= needs[i].memory_types;
    group->records.push_back(i);
  }
  return groups;
}

template <typename Value>
std::vector<Value> chosen(std::span<const Value> all, const std::vector<size_t>& which) {
  std::vector<Value> result;
  result.reserve(which.size());
  for (const size_t i : which) result.push_back(all[i]);
  return result;
}

}  // namespace

uint64_t Placement::total_bytes() const {
  uint64_t total = 0;
  for (const PlannedArena& arena : arenas) total += arena.bytes;
  return total;
}

MemoryNeed arena_need(const ObjectDesc& desc, const MemoryRules& rules, bool mixed) {
  MemoryNeed need = rules.need(desc);
  if (mixed) need.alignment = std::max(need.alignment, rules.buffer_image_granularity);
  need.bytes = round_up(need.bytes, need.alignment);
  return need;
}

Placement place_side_by_side(std::span<const MemoryNeed> needs, const MemoryRules& rules) {
  std::vector<size_t> order(needs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return needs[a].alignment > needs[b].alignment; });
  Placement placement;
  placement.places.resize(needs.size());
  for (const size_t i : order) {
    check_fits(needs[i], rules);
    const auto fits = [&](const PlannedArena& arena) {
      return (arena.memory_types & needs[i].memory_types) != 0 &&
             arena.bytes <= rules.max_allocation_bytes - needs[i].bytes;
    };
    auto arena = std::find_if(placement.arenas.begin(), placement.arenas.end(), fits);
    if (arena == placement.arenas.end())
      arena = placement.arenas.insert(placement.arenas.end(), PlannedArena{});
    placement.places[i] = {static_cast<uint32_t>(arena - placement.arenas.begin()), arena->bytes};
    arena->bytes += needs[i].bytes;
    arena->memory_types &= needs[i].memory_types;
  }
  return placement;
}

OffsetProblem offset_problem(std::span<const planner::TensorUsageRecord> records,
                             std::span<const MemoryNeed> needs) {
  OffsetProblem problem;
  for (size_t i = 0; i < records.size(); ++i) {
    problem.records.push_back({planner::Bytes{needs[i].bytes}, records[i].first_task, records[i].last_task});
    problem.alignment = std::max(problem.alignment, needs[i].alignment);
  }
  return problem;
}

Placement place_by_lifetime(std::span<const planner::TensorUsageRecord> records,
                            std::span<const MemoryNeed> needs, const MemoryRules& rules,
                            planner::OffsetStrategy strategy, const planner::PlanOptions& options) {
  Placement placement;
  placement.places.resize(records.size());
  for (const MemoryNeed& need : needs) check_fits(need, rules);
  for (Group& group : group_by_types(needs)) {
    while (!group.records.empty()) {
      const OffsetProblem problem =
          offset_problem(chosen(records, group.records), chosen(needs, group.records));
      planner::PlanOptions aligned = options;
      aligned.alignment = problem.alignment;
      const planner::OffsetPlan plan = planner::plan_offsets(problem.records, strategy, aligned);
      planner::validate(problem.records, plan, aligned);
      PlannedArena arena{0, group.types};
      std::vector<size_t> beyond;  // records beyond the limit, which go to the next arena
      for (size_t i = 0; i < group.records.size(); ++i) {
        const size_t record = group.records[i];
        const uint64_t end = plan.offset_of[i] + round_up(needs[record].bytes, problem.alignment);
        const uint64_t limit = std::max(rules.max_allocation_bytes, needs[record].bytes);
        if (plan.offset_of[i] + needs[record].bytes > limit) {
          beyond.push_back(record);
          continue;
        }
        placement.places[record] = {static_cast<uint32_t>(placement.arenas.size()), plan.offset_of[i]};
        arena.bytes = std::max(arena.bytes, std::min(end, limit));
      }
      placement.arenas.push_back(arena);
      group.records = std::move(beyond);
    }
  }
  return placement;
}

}  // namespace vellum
