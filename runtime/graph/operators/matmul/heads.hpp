// Splits and joins the heads of attention in bodies of composed operators.
#pragma once

#include <string_view>

#include "graph/composed.hpp"
#include "graph/operators/matmul/attention.hpp"

namespace vellum {

// Returns x of shape (batch, token, channels of all heads) as (batch, head, token, channel). `what` names x
// in errors.
ValueId split_heads(Body& body, ValueId x, int64_t heads, std::string_view what);
// Returns x of shape (batch, head, token, channel) as (batch, token, channels of all heads).
ValueId join_heads(Body& body, ValueId x);

// Returns the view of all of x, in its order.
StridedView dense_view(const Body& body, ValueId x);

// Returns a constant of this shape, with the integers from `first` on as int64.
ValueId counted(Body& body, const Shape& shape, int64_t first);

}  // namespace vellum
