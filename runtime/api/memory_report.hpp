// Makes memory reports of compiled models.
#pragma once

#include "compile/compile.hpp"
#include "vellum/profile.hpp"

namespace vellum {

// Returns the report of a plan. Planned bytes count as allocated; weights, inputs and outputs are 0.
MemoryReport memory_report(const CompiledModel& model);

// Returns the entry of a task, without times.
LayerTime layer(const Program& program, const Task& task);
// Returns the entry of a node in a host partition.
LayerTime host_layer(const Node& node);

}  // namespace vellum
