// Small networks from which MemoryMeter::calibrate() learns what a driver on the CPU takes.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Networks of the kinds of kernels that vision models have, each with pipelines that those before it lack.
// The first is one activation: what it takes is the driver itself. Tensors are small, as memory that the
// driver's compiler freed may hold them.
std::vector<Graph> driver_probes();

}  // namespace vellum
