// Wrappers of Vulkan-Hpp around handles that belong to the application.
#pragma once

#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// Makes the wrapper's destructor leave the handle alone. Vulkan-Hpp's release() does that only in versions
// newer than those that Vellum builds with; all have function pointers of the wrapper's own.
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
