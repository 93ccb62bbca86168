// The driver's report of memory use, in addition to Vellum's own count (Context::memory_statistics()).
#pragma once

#include <cstdint>
#include <optional>

namespace vellum::gpu {

class Context;

// Returns the bytes that this process uses in the device's heaps. Returns nothing without
// VK_EXT_memory_budget.
std::optional<uint64_t> heap_usage(const Context& context);

}  // namespace vellum::gpu
