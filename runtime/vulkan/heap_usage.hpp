// What the driver says of its memory, beside Vellum's own count (Context::memory_statistics).
#pragma once

#include <cstdint>
#include <optional>

namespace vellum::gpu {

class Context;

// Bytes that this process takes of the device's heaps; nothing without VK_EXT_memory_budget.
std::optional<uint64_t> heap_usage(const Context& context);

}  // namespace vellum::gpu
