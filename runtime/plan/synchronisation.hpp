// Derives barriers and image transitions from a program and its memory plan. Needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/memory_plan.hpp"

namespace vellum {

// The barrier and the image transitions before a task.
struct TaskSync {
  // Whether a barrier is needed before this task: a task since the last barrier wrote memory that this one
  // reads or writes, or read memory that this one writes.
  bool barrier = false;
  // Image objects to transition from UNDEFINED before this task, because this task, or a later one without a
  // barrier, begins a new tensor in them. Only tasks with a barrier, and the first task of a run or after a
  // host partition, have any.
  std::vector<uint32_t> discarded_objects;

  // Whether commands must be recorded before the task.
  bool needs_command() const { return barrier || !discarded_objects.empty(); }
};

// Returns one entry for each task. A barrier covers all memory and clears every earlier hazard, so the number
// of barriers is minimal for this order. The first task of a run is assumed to follow a wait for the previous
// run.
std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan);

// Formats one line for each barrier: the output of `vellum inspect --stage barriers`.
std::string to_text(const std::vector<TaskSync>& barriers, const Program& program);

}  // namespace vellum
