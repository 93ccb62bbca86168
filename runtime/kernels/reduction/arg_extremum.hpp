// The index of an extremum along an axis.
#pragma once

#include <cstdint>

#include "kernels/framework/lowering.hpp"

namespace vellum {

struct ExtremumAlong {
  int64_t count = 1, length = 1, inner = 1;  // results; elements of the axis, and the stride between them
  bool minimum = false;
  bool takes_last = false;  // of equal extrema
};

// Adds the dispatches that write the indices of the extrema of `x` to `y`. Both are linear. A long axis takes
// two dispatches: one for segments, one for their results.
void reduce_to_index(Lowering& lowering, TensorId x, const ExtremumAlong& along, TensorId y);

}  // namespace vellum
