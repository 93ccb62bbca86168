// Describes operators of nodes for make_operator().
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace vellum {

// Describes an operator with these inputs (kNoValue if omitted). The result points to the attributes.
NodeSpec spec_of(std::string type, std::string name, int opset, const Attributes& attributes,
                 std::span<const ValueId> inputs, size_t outputs);

}  // namespace vellum
