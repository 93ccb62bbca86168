// Vulkan-Hpp wrappers around handles that the application owns and destroys.
#pragma once

#include <type_traits>

#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// Returns the table of functions that a wrapper uses. (Versions of Vulkan-Hpp have its type in different
// namespaces.)
template <typename Wrapper>
auto& functions_of(const Wrapper& wrapper) {
  using Dispatcher = std::remove_cvref_t<decltype(*wrapper.getDispatcher())>;
  return *const_cast<Dispatcher*>(wrapper.getDispatcher());
}

// Prevent the wrapper's destructor from destroying the handle, by replacing the wrapper's function pointer.
// (Vulkan-Hpp's release() exists only in versions newer than those that Vellum supports.)
inline void disown(const vk::raii::Instance& instance) {
  functions_of(instance).vkDestroyInstance = [](VkInstance, const VkAllocationCallbacks*) {};
}

inline void disown(const vk::raii::Device& device) {
  functions_of(device).vkDestroyDevice = [](VkDevice, const VkAllocationCallbacks*) {};
}

}  // namespace vellum::gpu
