// Compiled model -> report.
#pragma once

#include "compile/compile.hpp"
#include "vellum/profile.hpp"

namespace vellum {

// From the plan: the planned bytes count as allocated, and weights, inputs and outputs are left at 0.
MemoryReport memory_report(const CompiledModel& model);

// Without its times.
LayerTime layer(const Program& program, const Task& task);
// Of a node in a host partition.
LayerTime host_layer(const Node& node);

}  // namespace vellum
