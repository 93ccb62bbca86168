// Linear interpolation in integers, as a quantised model computes it, along rows and columns.
#pragma once

#include "graph/operators/movement/resize.hpp"

namespace vellum {

// Returns the two taps of each of `out` output elements along an axis with `in` input elements. Their weights
// are multiples of 2^-10, or with in_floats any floats.
std::vector<ResizeTaps> integer_taps(CoordinateMode mode, bool in_floats, int64_t in, int64_t out);
// Returns x, which has four dimensions, interpolated with these taps.
HostTensor interpolate_integers(const FixedResize& fixed, const std::vector<ResizeTaps>& rows,
                                const std::vector<ResizeTaps>& columns, const HostTensor& x);

}  // namespace vellum
