// Operators of the domain com.microsoft, which ONNX Runtime's optimiser writes into files.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#pragma once

#include <string_view>
#include <vector>

#include "graph/operator.hpp"

namespace vellum {

inline constexpr std::string_view kContribPrefix = "com.microsoft.";

// Returns the maker of an operator, given its name with the domain: "com.microsoft.FusedConv". Returns null
// for an unknown operator.
MakeOperator find_contrib_operator(std::string_view type);
std::vector<std::string_view> contrib_operator_types();

}  // namespace vellum
