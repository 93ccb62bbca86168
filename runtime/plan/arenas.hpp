// Where images and buffers lie in device memory: a handful of arenas, each one vkAllocateMemory.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/memory_needs.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

struct PlannedArena {
  uint64_t bytes = 0;
  uint32_t memory_types = UINT32_MAX;  // that suit all that lies in it
};

struct Place {
  uint32_t arena = 0;
  uint64_t offset = 0;
};

struct Placement {
  std::vector<Place> places;
  std::vector<PlannedArena> arenas;
  uint64_t total_bytes() const;
};

// What an object takes of an arena: its bytes a multiple of its alignment, and where images and buffers lie
// together both of the granularity between them. So an arena of these, largest alignment first, has no gaps.
MemoryNeed arena_need(const ObjectDesc& desc, const MemoryRules& rules, bool mixed);

// One after another, in as few arenas as memory types and the limit on one allocation allow. Throws
// Error(out_of_memory) where an object alone is beyond that limit.
Placement place_side_by_side(std::span<const MemoryNeed> needs, const MemoryRules& rules);

// Over one another where lifetimes do not meet. `needs` per record, whose own sizes do not matter. A further
// arena begins only where memory types have nothing in common or an arena would be beyond the limit.
Placement place_by_lifetime(std::span<const planner::TensorUsageRecord> records,
                            std::span<const MemoryNeed> needs, const MemoryRules& rules,
                            planner::OffsetStrategy strategy, const planner::PlanOptions& options);

// The bytes that place_by_lifetime plans with, and the alignment of its offsets.
struct OffsetProblem {
  std::vector<planner::TensorUsageRecord> records;
  uint64_t alignment = 1;
};
OffsetProblem offset_problem(std::span<const planner::TensorUsageRecord> records,
                             std::span<const MemoryNeed> needs);

}  // namespace vellum
