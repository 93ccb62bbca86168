// Checks that inputs have the same element type if the operator's specification gives them one type
// parameter.
#pragma once

#include <string_view>

#include "graph/operator_support.hpp"

namespace vellum {

// Throws Error(corrupt_model), which names two inputs and their types, if types differ. float16 together with
// float32 is allowed, for graphs whose weights stay in float16.
void check_same_types(std::string_view type, Inputs inputs);

}  // namespace vellum
