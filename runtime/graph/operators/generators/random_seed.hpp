// The seed of an operator that draws random numbers.
#pragma once

#include <cstdint>

#include "graph/operator.hpp"

namespace vellum {

// Returns the bits of the attribute `seed`. Nodes without a seed differ by their names.
uint64_t read_seed(const NodeSpec& spec);

}  // namespace vellum
