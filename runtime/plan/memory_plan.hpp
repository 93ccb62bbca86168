// Program -> which intermediate tensors share which object. Needs no device.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "plan/arenas.hpp"
#include "plan/lifetimes.hpp"
#include "plan/memory_needs.hpp"
#include "vellum/options.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

std::string_view name(MemoryMode mode);

// The records that the planner sees, and the tensor that each stands for (an owner: tensors that take over
// its memory are in its record), in order of tensor id.
struct UsageRecords {
  std::vector<planner::TensorUsageRecord> records;
  std::vector<TensorId> tensors;
};
UsageRecords usage_records(const Program& program);

// One device image or buffer: with shared objects it carries tensors whose lifetimes do not meet, else one
// tensor.
struct SharedObject : ObjectDesc {
  MemoryNeed need;  // what it takes of its arena, as a multiple of its alignment
  Place place;
  std::vector<TensorId> tensors;  // in order of first use
};

inline constexpr uint32_t kNoObject = UINT32_MAX;

struct MemoryPlan {
  MemoryMode mode = MemoryMode::shared_objects;
  std::string strategy;
  std::vector<SharedObject> objects;
  std::vector<PlannedArena> arenas;
  std::vector<uint32_t> object_of;  // per tensor of the program (aliases too); kNoObject where not planned
  std::vector<Lifetime> lifetimes;  // per tensor
  uint64_t naive_bytes = 0;    // every tensor on its own, padding of the device included, as in all of these
  uint64_t planned_bytes = 0;  // of all arenas: what is allocated
  uint64_t lower_bound_bytes = 0;  // no assignment in this mode is smaller
};

struct PlanMemoryOptions {
  MemoryMode mode = MemoryMode::shared_objects;
  std::string strategy = "best";  // one of the mode's; not looked at in mode naive
  std::chrono::milliseconds search_budget{0};
};

// Validated before it is returned. Error(invalid_argument) for a strategy that the mode does not have.
MemoryPlan plan_memory(const Program& program, const PlanMemoryOptions& options, const MemoryRules& rules);

// What the planner takes for these records: sizes of objects, or of tensors in an arena, on the device.
planner::PlanOptions object_plan_options(const UsageRecords& usage, const MemoryRules& rules);
OffsetProblem arena_problem(const UsageRecords& usage, const MemoryRules& rules);

// One line per object: what `vellum inspect --stage plan` prints.
std::string to_text(const MemoryPlan& plan, const Program& program);

}  // namespace vellum
