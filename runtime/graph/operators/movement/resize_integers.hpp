// Linear interpolation of a quantised model, along rows and columns.
#pragma once

#include "graph/operators/movement/resize.hpp"

namespace vellum {

// Returns the two taps of each of `out` elements along an axis of `in`: their weights are multiples of 2^-10,
// or floats.
std::vector<ResizeTaps> integer_taps(CoordinateMode mode, bool in_floats, int64_t in, int64_t out);
// x: of four dimensions.
HostTensor interpolate_integers(const FixedResize& fixed, const std::vector<ResizeTaps>& rows,
                                const std::vector<ResizeTaps>& columns, const HostTensor& x);

}  // namespace vellum
