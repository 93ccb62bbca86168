// Finds the inputs of operators whose values decide shapes, such as the sizes of a Resize.
#pragma once

#include <cstddef>

#include "graph/operator.hpp"

namespace vellum {

// Returns whether the values of this input must be known before running, because the shape rule reads them or
// because they choose a branch.
bool decides_shape(const Operator& op, size_t input);

}  // namespace vellum
