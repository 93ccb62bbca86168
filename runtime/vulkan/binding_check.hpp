// Checks for buffers and images when memory is bound to them.
#pragma once

#include "vulkan/memory.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// Converts Vulkan's structure to the plain one.
MemoryRequirements plain(const vk::MemoryRequirements& requirements);

// Throws Error(invalid_argument) if the resource is already bound, or the arena does not suit it in size,
// alignment or memory type. `what` names the resource in errors.
void check_binding(const char* what, const MemoryRequirements& needed, const Arena& arena, uint64_t offset,
                   bool already_bound);

}  // namespace vellum::gpu
