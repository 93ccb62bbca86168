// The inputs of operators whose values decide shapes, such as the sizes of a Resize.
#pragma once

#include <cstddef>

#include "graph/operator.hpp"

namespace vellum {

// Whether the operator has to know the values of this input before running: its shape rule reads them, or
// they choose a branch.
bool decides_shape(const Operator& op, size_t input);

}  // namespace vellum
