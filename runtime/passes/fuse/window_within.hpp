// Windows of convolutions of one tensor inside one another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/operators/conv/window.hpp"

namespace vellum {

// Returns for each axis which tap of `outer` is the first tap of `inner`. Returns nothing if a tap of `inner`
// is between or beyond those of `outer`. Both have three axes (as_3d()).
std::optional<std::array<int64_t, 3>> window_within(const WindowPlacement& inner,
                                                    const WindowPlacement& outer);

}  // namespace vellum
