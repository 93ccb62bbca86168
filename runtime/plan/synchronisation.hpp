// Derives barriers and image transitions from a program and its memory plan. Needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/memory_plan.hpp"

namespace vellum {

struct TaskSync {
  // A barrier before this task: an earlier task since the last barrier wrote memory that this one reads or
  // writes, or read memory that it writes.
  bool barrier = false;
  // Image objects to transition from UNDEFINED before this task, because it, or a later task without a
  // barrier of its own, begins a new tensor in them. Only tasks with a barrier have any, and the first task
  // of a run or after a host partition, which has nothing to wait for.
  std::vector<uint32_t> discarded_objects;

  // Whether commands must be recorded before the task.
  bool needs_command() const { return barrier || !discarded_objects.empty(); }
};

// Returns one entry for each task. A barrier covers all memory, so each one clears every earlier hazard:
// there are as few barriers as this order allows. The first task of a run is assumed to follow a wait for the
// previous run.
std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan);

// One line per barrier: what `vellum inspect --stage barriers` prints.
std::string to_text(const std::vector<TaskSync>& barriers, const Program& program);

}  // namespace vellum
