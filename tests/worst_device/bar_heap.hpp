// A discrete GPU without resizable BAR (docs/drivers.md, row 52): the host maps 256 MiB of its memory, most
// of which other programs have taken, and the rest only through copies.
#pragma once

#include <vulkan/vulkan_core.h>

namespace vellum::test {

// Adds two memory types: memory of the device, and 256 MiB of it that the host can map. Both are in truth the
// driver's first type, to which the host has access.
void add_bar_heap(VkPhysicalDeviceMemoryProperties& properties);

// Returns the function to call in place of the driver's function of that name, or null. Allocations that the
// heap has no room for fail with VK_ERROR_OUT_OF_DEVICE_MEMORY.
PFN_vkVoidFunction bar_heap_function(VkDevice device, const char* name, PFN_vkGetDeviceProcAddr driver);

}  // namespace vellum::test
