// The bytes that Vellum allocated from Vulkan, by category, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vellum::gpu {

enum class MemoryCategory : uint8_t { weights, in_out, intermediates, workspace, staging, other, state };
inline constexpr size_t kMemoryCategories = 7;

std::string_view name(MemoryCategory category);

// Bytes as passed to vkAllocateMemory.
struct MemoryUse {
  uint64_t bytes = 0;  // allocated now
  uint64_t peak_bytes = 0;
  uint32_t allocations = 0;       // that exist now
  uint64_t allocations_made = 0;  // since the Context was created
};

struct MemoryStatistics {
  std::array<MemoryUse, kMemoryCategories> by_category;
  MemoryUse total;

  const MemoryUse& of(MemoryCategory category) const { return by_category[static_cast<size_t>(category)]; }
};

}  // namespace vellum::gpu
