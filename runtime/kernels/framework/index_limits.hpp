// The integers of inputs with which tokens are written within their caches.
#pragma once

#include "graph/graph.hpp"
#include "program/program.hpp"

namespace vellum {

// Sets Port::indices of each input of integers that gives, maybe after a constant is added, the positions at
// which TensorScatter writes: seqlens_k of GroupQueryAttention, write_indices. The device writes nothing
// beyond a cache, and attention would read other tokens than the model says. `program`: of the graph.
void limit_write_indices(Program& program, const Graph& graph);

}  // namespace vellum
