// Vulkan's bits for the types of handles.
#pragma once

#include "vellum/external.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

vk::ExternalMemoryHandleTypeFlagBits memory_type_bit(ExternalHandleType type);
vk::ExternalSemaphoreHandleTypeFlagBits semaphore_type_bit(ExternalHandleType type);

}  // namespace vellum::gpu
