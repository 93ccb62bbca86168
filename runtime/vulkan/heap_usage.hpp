// The driver's own report of memory, beside Vellum's count (Context::memory_statistics).
#pragma once

#include <cstdint>
#include <optional>

namespace vellum::gpu {

class Context;

// Returns the bytes that this process uses of the device's heaps; nothing without VK_EXT_memory_budget.
std::optional<uint64_t> heap_usage(const Context& context);

}  // namespace vellum::gpu
