// Plans the memory of a program: which intermediate tensors share which object, and where each object is.
// Needs no device. Start reading here for the memory plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/arenas.hpp"
#include "plan/lifetimes.hpp"
#include "plan/memory_needs.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

std::string_view name(MemoryMode mode);

// The planner's input records in order of tensor id, and the tensor of each. Tensors that alias another in
// place are part of its record.
struct UsageRecords {
  std::vector<planner::TensorUsageRecord> records;
  std::vector<TensorId> tensors;
};
UsageRecords usage_records(const Program& program);

// One device image or buffer. In mode shared_objects it carries tensors whose lifetimes do not overlap, in
// other modes one tensor.
struct SharedObject : ObjectDesc {
  MemoryNeed need;  // in its arena; the bytes are a multiple of the alignment
  Suballocation place;
  std::vector<TensorId> tensors;  // in order of first use
};

inline constexpr uint32_t kNoObject = UINT32_MAX;

// The objects of a program's intermediate tensors, the arenas that hold them, and the totals.
struct MemoryPlan {
  MemoryMode mode = MemoryMode::shared_objects;
  std::string strategy;
  std::vector<SharedObject> objects;
  std::vector<PlannedArena> arenas;
  std::vector<uint32_t> object_of;  // per tensor of the program, aliases too; kNoObject if not planned
  std::vector<Lifetime> lifetimes;  // per tensor
  // Bytes, device padding included.
  uint64_t naive_bytes = 0;        // every tensor in an object of its own
  uint64_t planned_bytes = 0;      // the sum of all arenas: the bytes that are allocated
  uint64_t lower_bound_bytes = 0;  // no assignment in this mode is smaller
};

struct PlanMemoryOptions {
  MemoryMode mode = MemoryMode::shared_objects;
  std::string strategy = "best";  // a strategy of the mode; ignored in mode naive
  std::chrono::milliseconds search_budget{0};
};

// Plans the memory of a program and validates the plan. Throws Error(invalid_argument) for a strategy that
// the mode does not have.
MemoryPlan plan_memory(const Program& program, const PlanMemoryOptions& options, const MemoryRules& rules);

// Returns the planner's input for these records, with the sizes that the device requires: options for
// objects, and records for tensors in an arena.
planner::PlanOptions object_plan_options(const UsageRecords& usage, const MemoryRules& rules);
OffsetProblem arena_problem(const UsageRecords& usage, const MemoryRules& rules);

// Formats one line for each object: the output of `vellum inspect --stage plan`.
std::string to_text(const MemoryPlan& plan, const Program& program);

}  // namespace vellum
