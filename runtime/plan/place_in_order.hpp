// Where weights, inputs and outputs lie, which stay as long as a session does.
#pragma once

#include <cstddef>
#include <span>

#include "plan/arenas.hpp"

namespace vellum {

// One after another as they are given, of which the first `images` are images and the others buffers, which
// begin a granularity apart: rounding every small buffer up to it, as place_side_by_side() does, would cost
// too much. In as few arenas as memory types and the limit on one allocation allow. Throws
// Error(out_of_memory) as that does.
Placement place_in_order(std::span<const MemoryNeed> needs, size_t images, const MemoryRules& rules);

}  // namespace vellum
