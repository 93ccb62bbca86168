// Inputs of an operator that must have one element type, because its specification gives them one type
// parameter.
#pragma once

#include <string_view>

#include "graph/operator_support.hpp"

namespace vellum {

// Throws Error(corrupt_model) that names two inputs and their types where they differ. Halves beside float32
// pass, as in graphs whose weights stay halves.
void check_same_types(std::string_view type, Inputs inputs);

}  // namespace vellum
