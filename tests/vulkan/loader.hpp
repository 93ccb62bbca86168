// Vulkan's loader, for layers between it and Vellum.
#pragma once

#include <array>

#include "platform/dynamic_library.hpp"

namespace vellum::test {

inline platform::DynamicLibrary open_vulkan_loader() {
  constexpr std::array names{"libvulkan.so.1", "libvulkan.so", "vulkan-1.dll"};
  return platform::DynamicLibrary::open(names);
}

}  // namespace vellum::test
