// Operators and constants that several passes build.
#pragma once

#include <memory>
#include <optional>

#include "graph/operator.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// A Reshape to a known shape, which may have dimensions of 0.
std::shared_ptr<const Operator> reshape_to(Shape shape);

// `constant` broadcast to the last dimensions of a tensor, in full; nothing where it varies along other
// dimensions.
std::optional<HostTensor> expand_to_last_dimensions(const HostTensor& constant, const Shape& last);

}  // namespace vellum
