// Makes descriptions of operators for make_operator().
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace vellum {

// Returns the description of an operator with these inputs (kNoValue if omitted). The result points to
// `attributes`.
NodeSpec spec_of(std::string type, std::string name, int opset, const Attributes& attributes,
                 std::span<const ValueId> inputs, size_t outputs);

}  // namespace vellum
