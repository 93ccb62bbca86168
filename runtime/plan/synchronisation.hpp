// Program and memory plan -> what must be waited for before each task. Needs no device.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/memory_plan.hpp"

namespace vellum {

struct TaskSync {
  // An earlier task since the last barrier wrote what this one touches, or read what it writes.
  bool barrier = false;
  // Image objects whose content dies here, because the task writes a tensor that lives in them from now on.
  std::vector<uint32_t> discarded_objects;
};

// One per task. A barrier is over all memory, so that each one clears every hazard before it: as few as there
// can be in this order. The first task of a run is taken to follow a wait for the run before.
std::vector<TaskSync> synchronise(const Program& program, const MemoryPlan& plan);

}  // namespace vellum
