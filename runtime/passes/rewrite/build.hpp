// Helpers of several passes that build operators and constants.
#pragma once

#include <memory>
#include <optional>

#include "graph/operator.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// Returns a Reshape to a known shape, which may have dimensions of 0.
std::shared_ptr<const Operator> reshape_to(Shape shape);

// Return the function of one or two tensors, without an activation.
std::shared_ptr<const Operator> unary_of(UnaryKind kind);
std::shared_ptr<const Operator> binary_of(BinaryKind kind);

// Returns `constant` broadcast to the last dimensions of a tensor. Returns nothing if it varies along other
// dimensions.
std::optional<HostTensor> expand_to_last_dimensions(const HostTensor& constant, const Shape& last);

}  // namespace vellum
