// Vulkan-Hpp in a separate namespace. An application may use another version or other settings of Vulkan-Hpp,
// and the linker would merge inline functions of equal names.
#pragma once

#define VULKAN_HPP_NAMESPACE vellum_vk
// 0: the Instance opens the loader itself (platform/dynamic_library.hpp).
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#include <vulkan/vulkan_raii.hpp>

namespace vellum::gpu {
namespace vk = vellum_vk;
}
