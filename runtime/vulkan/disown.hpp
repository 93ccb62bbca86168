// Vulkan-Hpp wrappers around handles that the application owns and destroys.
#pragma once

#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// Prevents the wrapper's destructor from destroying the handle, by replacing the wrapper's function pointer.
// (Vulkan-Hpp's release() exists only in versions newer than those that Vellum supports.)
inline void disown(const vk::raii::Instance& instance) {
  using Dispatcher = vk::raii::InstanceDispatcher;
  const_cast<Dispatcher*>(instance.getDispatcher())->vkDestroyInstance = [](VkInstance,
                                                                            const VkAllocationCallbacks*) {};
}

inline void disown(const vk::raii::Device& device) {
  using Dispatcher = vk::raii::DeviceDispatcher;
  const_cast<Dispatcher*>(device.getDispatcher())->vkDestroyDevice = [](VkDevice,
                                                                        const VkAllocationCallbacks*) {};
}

}  // namespace vellum::gpu
