// The integers of inputs that are positions within the tensors that are read or written there.
#pragma once

#include "graph/graph.hpp"
#include "program/program.hpp"

namespace vellum {

// Sets Port::indices of each input of integers that gives, maybe after a constant is added, the positions
// that Gather, GatherElements, GatherND and BlockGather read, or that ScatterElements, ScatterND,
// TensorScatter and CacheUpdate write. A device reads the nearest position instead of one outside of its
// data, and writes nothing there. `program`: of the graph.
void limit_indices(Program& program, const Graph& graph);

}  // namespace vellum
