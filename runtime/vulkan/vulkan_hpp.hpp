// Vulkan-Hpp in a namespace of Vellum's own. An application may use it too, of another version or with other
// settings, and its inline functions would be linked with Vellum's where their names are equal.
#pragma once

#define VULKAN_HPP_NAMESPACE vellum_vk
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL \
  0  // the Instance opens the loader (platform/dynamic_library.hpp)
#include <vulkan/vulkan_raii.hpp>

namespace vellum::gpu {
namespace vk = vellum_vk;
}
