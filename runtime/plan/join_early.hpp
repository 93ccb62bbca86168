// The order of tasks that join strips (passes/tile).
#pragma once

#include <vector>

#include "program/program.hpp"

namespace vellum {

// Moves each task with `joins` set to the earliest position that its dependencies allow, because a strip's
// memory is free as soon as the strip is joined to the whole. `joins`: per task.
void join_early(Program& program, const std::vector<bool>& joins);

}  // namespace vellum
