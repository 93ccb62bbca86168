// Plan -> report.
#pragma once

#include "plan/memory_plan.hpp"
#include "vellum/profile.hpp"

namespace vellum {

// What the plan tells: what is allocated is what is planned, nothing is known of weights, inputs and outputs.
MemoryReport memory_report(const MemoryPlan& plan, const Program& program);

// Without its times.
LayerTime layer(const Program& program, const Task& task);
// Of the program's tail.
LayerTime host_layer(const Node& node);

}  // namespace vellum
