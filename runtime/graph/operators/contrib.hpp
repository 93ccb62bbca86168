// Operators of the domain com.microsoft, which ONNX Runtime's optimiser writes into files.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#pragma once

#include <string_view>
#include <vector>

#include "graph/operator.hpp"

namespace vellum {

inline constexpr std::string_view kContribPrefix = "com.microsoft.";

// The maker of an operator by its name with the domain, "com.microsoft.FusedConv"; null for one that Vellum
// does not know.
MakeOperator find_contrib_operator(std::string_view type);
std::vector<std::string_view> contrib_operator_types();

}  // namespace vellum
