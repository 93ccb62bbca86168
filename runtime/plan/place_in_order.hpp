// Places objects that live as long as a session: weights, inputs and outputs.
#pragma once

#include <cstddef>
#include <span>

#include "plan/arenas.hpp"

namespace vellum {

// Places objects one after another in the given order: first `images` images, then buffers.
// bufferImageGranularity applies only between the last image and the first buffer, because rounding every
// small buffer up to it, as place_side_by_side() does, would waste too much. Uses as few arenas as memory
// types and the limit on one allocation permit. Throws Error(out_of_memory) if a single object exceeds that
// limit.
Placement place_in_order(std::span<const MemoryNeed> needs, size_t images, const MemoryRules& rules);

}  // namespace vellum
