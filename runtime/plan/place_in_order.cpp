#include "plan/place_in_order.hpp"

#include <algorithm>
#include <string>

#include "program/divide.hpp"
#include "vellum/error.hpp"

namespace vellum {

Placement place_in_order(std::span<const MemoryNeed> needs, size_t images, const MemoryRules& rules) {
  Placement placement;
  for (size_t i = 0; i < needs.size(); ++i) {
    const MemoryNeed& need = needs[i];
    if (need.bytes > rules.max_allocation_bytes)
      throw Error(ErrorCode::out_of_memory, "a tensor takes " + std::to_string(need.bytes) +
                                                " bytes, but the device allocates at most " +
                                                std::to_string(rules.max_allocation_bytes) + " at once");
    const uint64_t granularity = i == images ? rules.buffer_image_granularity : 1;
    if (placement.arenas.empty()) placement.arenas.emplace_back();
    uint64_t offset = round_up(placement.arenas.back().bytes, std::max(need.alignment, granularity));
    if (offset > rules.max_allocation_bytes - need.bytes ||
        !(placement.arenas.back().memory_types & need.memory_types)) {
      placement.arenas.emplace_back();
      offset = 0;
    }
    PlannedArena& arena = placement.arenas.back();
    arena.bytes = offset + need.bytes;
    arena.memory_types &= need.memory_types;
    placement.places.push_back({static_cast<uint32_t>(placement.arenas.size() - 1), offset});
  }
  return placement;
}

}  // namespace vellum
