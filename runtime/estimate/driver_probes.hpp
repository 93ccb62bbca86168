// Small networks with which MemoryMeter::calibrate() measures the memory of a driver on the CPU.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Returns networks with the kinds of kernels that vision models have. Each adds pipelines that the previous
// ones lack. The first is a single activation, which measures the driver itself. Tensors are small, because
// they may be placed in memory that the driver's compiler freed, and then do not show as growth.
std::vector<Graph> driver_probes();

}  // namespace vellum
