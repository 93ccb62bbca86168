// Program and memory plan -> what must be waited for before each task. Needs no device.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/memory_plan.hpp"

namespace vellum {

struct TaskSync {
  // An earlier task since the last barrier wrote what this one touches, or read what it writes.
  bool barrier = false;
  // Image objects whose content dies here, because a task writes a tensor that lives in them: this one, or
  // one after it that needs no barrier of its own. Only tasks with a barrier have some, and the first of a
  // run and after a host call, which have nothing to wait for.
  std::vector<uint32_t> discarded_objects;
};

// One per task. A barrier is over all memory, so that each one clears every hazard before it: as few as there
// can be in this order. The first task of a run is taken to follow a wait for the run before.
std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan);

}  // namespace vellum
