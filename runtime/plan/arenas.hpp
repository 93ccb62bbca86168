// Assigns images and buffers to arenas. An arena is one vkAllocateMemory; a suballocation is a range of it.
//
//   arena 0  | image | image |gap| buffer | buffer |     gap: bufferImageGranularity between image and buffer
//   arena 1  | buffer |                                  another arena if memory types or limits require it
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/memory_needs.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

// An arena to allocate.
struct PlannedArena {
  uint64_t bytes = 0;
  uint32_t memory_types = UINT32_MAX;  // a bit for each memory type that suits all objects in the arena
};

// The position of an object in the arenas.
struct Suballocation {
  uint32_t arena = 0;
  uint64_t offset = 0;  // bytes
};

// The position of each object, and the arenas that hold them.
struct Placement {
  std::vector<Suballocation> places;  // per object
  std::vector<PlannedArena> arenas;
  uint64_t total_bytes() const;
};

// Returns the memory that an object needs in an arena: its bytes rounded up to its alignment. `mixed`: images
// and buffers share the arena, so bytes and alignment are also multiples of bufferImageGranularity. Objects
// with such needs, placed in order of descending alignment, leave no gaps.
MemoryNeed arena_need(const ObjectDesc& desc, const MemoryRules& rules, bool mixed);

// Places objects one after another, in as few arenas as memory types and the limit on one allocation permit.
// Throws Error(out_of_memory) if a single object exceeds that limit.
Placement place_side_by_side(std::span<const MemoryNeed> needs, const MemoryRules& rules);

// Places objects so that those whose lifetimes do not overlap may alias. `needs` has an entry for each record
// and replaces the record's size. There is more than one arena only if the objects have no common memory
// type, or an arena would exceed the limit on one allocation.
Placement place_by_lifetime(std::span<const planner::TensorUsageRecord> records,
                            std::span<const MemoryNeed> needs, const MemoryRules& rules,
                            planner::OffsetStrategy strategy, const planner::PlanOptions& options);

// The input of the planner in place_by_lifetime(): records with the bytes of `needs`, and the alignment of
// offsets.
struct OffsetProblem {
  std::vector<planner::TensorUsageRecord> records;
  uint64_t alignment = 1;
};
OffsetProblem offset_problem(std::span<const planner::TensorUsageRecord> records,
                             std::span<const MemoryNeed> needs);

}  // namespace vellum
