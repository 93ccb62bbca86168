// Places objects that live as long as a session: weights, inputs and outputs.
#pragma once

#include <cstddef>
#include <span>

#include "plan/arenas.hpp"

namespace vellum {

// Places objects one after another in the given order: `images` images, then buffers. The granularity
// separates the last image from the first buffer only; rounding every small buffer up to it, as
// place_side_by_side() does, would waste too much. Uses as few arenas as memory types and the limit on one
// allocation allow. Throws Error(out_of_memory) if a single object exceeds that limit.
Placement place_in_order(std::span<const MemoryNeed> needs, size_t images, const MemoryRules& rules);

}  // namespace vellum
