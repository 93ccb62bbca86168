// Inputs of a model on whose values shapes depend: they have to be known before running, as the shapes.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"
#include "passes/passes.hpp"

namespace vellum {

// An input with more elements never decides shapes: it holds data.
inline constexpr int64_t kMostShapeValues = 64;

// Returns for each input of the graph whether a shape, or the choice of a branch, depends on its values,
// while no input with more than kMostShapeValues elements takes part in that.
std::vector<bool> find_shape_inputs(const Graph& graph);

// Throws Error(invalid_argument) where values are of no input that decides shapes, have another dtype, or a
// shape that contradicts the model; Error(unsupported) where they are more than kMostShapeValues.
void check_input_values(const Graph& graph, const std::vector<bool>& shape_inputs,
                        const InputTensors& values);

}  // namespace vellum
