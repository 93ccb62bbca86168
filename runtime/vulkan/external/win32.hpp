// Import and export of Windows NT handles. Other systems do not have the extensions; there these functions
// throw.
#pragma once

#include <vulkan/vulkan_core.h>

#include <functional>

#include "vulkan/external/memory.hpp"

namespace vellum::gpu {

class Context;

// Calls `import` with the structure by which vkAllocateMemory imports the HANDLE.
ImportedMemory chain_win32_memory(void* handle, const std::function<ImportedMemory(const void*)>& import);
// Return a new HANDLE.
void* export_win32_memory(const Context& context, VkDeviceMemory memory);
void* export_win32_semaphore(const Context& context, VkSemaphore semaphore);
void import_win32_semaphore(const Context& context, VkSemaphore semaphore, void* handle);

}  // namespace vellum::gpu
