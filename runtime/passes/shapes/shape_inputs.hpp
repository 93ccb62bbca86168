// Inputs of a model whose values determine shapes: the values must be known before running.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"
#include "passes/passes.hpp"

namespace vellum {

// An input with more elements is data and never decides shapes.
inline constexpr int64_t kMostShapeValues = 64;

// Returns for each input of the graph whether a shape, or the choice of a branch, depends on its values and
// on no input with more than kMostShapeValues elements.
std::vector<bool> find_shape_inputs(const Graph& graph);

// Throws Error(invalid_argument) for values of an input that decides no shapes, for a wrong dtype, and for a
// shape that contradicts the model; Error(unsupported) for more than kMostShapeValues values.
void check_input_values(const Graph& graph, const std::vector<bool>& shape_inputs,
                        const InputTensors& values);

}  // namespace vellum
