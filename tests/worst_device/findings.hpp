// The buffer in which shaders report their findings (finding_marks.hpp), as a descriptor set of its own that
// each pipeline layout has besides Vellum's.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vellum::test {

// Returns the function to call in place of the driver's function of that name, or null. The calls of a device
// end with vkDestroyDevice.
PFN_vkVoidFunction findings_function(VkDevice device, const char* name, PFN_vkGetDeviceProcAddr driver,
                                     const VkPhysicalDeviceMemoryProperties& memory);

// Names the shader of a slot by what the module says of itself.
void note_shader(uint32_t slot, std::span<const uint32_t> module);

// Returns a sentence for each finding since the last call. No work may be under way on the devices.
std::vector<std::string> take_findings();

}  // namespace vellum::test
