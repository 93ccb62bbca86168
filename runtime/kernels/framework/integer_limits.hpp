// The largest integers of inputs for which the device computes what the model says.
#pragma once

#include "graph/graph.hpp"
#include "program/program.hpp"

namespace vellum {

// Sets Port::limit of each input of integers with which a result of int64 could exceed the 32 bits in which
// the device computes it. Results follow from inputs and constants by their ranges, through the operators
// that networks have for indices and lengths; values that others compute are not followed. The host computes
// 64 bits. `program`: of the graph.
void limit_integer_inputs(Program& program, const Graph& graph);

}  // namespace vellum
