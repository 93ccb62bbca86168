// The order of tasks that join strips (passes/tile).
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// Moves each of the tasks for which `joins` holds to the earliest place that its dependencies allow: a
// strip's memory is free for the next one as soon as the strip is part of the whole. `joins`: per task.
void join_early(Program& program, const std::vector<bool>& joins);

}  // namespace vellum
