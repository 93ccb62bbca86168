// Shared buffers, images and semaphores of vellum/external.hpp.
#pragma once

#include <memory>

#include "vellum/external.hpp"

namespace vellum::gpu {

class Context;

// Implement import() and make() of the classes in vellum/external.hpp, for a device's context.
std::shared_ptr<ExternalBuffer::Impl> import_buffer(const std::shared_ptr<Context>& context,
                                                    const ExternalMemory& memory, uint64_t bytes,
                                                    VkBufferUsageFlags usage, uint64_t offset);
std::shared_ptr<ExternalBuffer::Impl> make_external_buffer(const std::shared_ptr<Context>& context,
                                                           uint64_t bytes, VkBufferUsageFlags usage,
                                                           ExternalHandleType type);
std::shared_ptr<ExternalImage::Impl> import_image(const std::shared_ptr<Context>& context,
                                                  const ExternalMemory& memory, VkImageCreateInfo info);
std::shared_ptr<ExternalImage::Impl> make_external_image(const std::shared_ptr<Context>& context,
                                                         VkImageCreateInfo info, ExternalHandleType type);
std::shared_ptr<ExternalSemaphore::Impl> import_semaphore(const std::shared_ptr<Context>& context,
                                                          const ExternalSemaphoreHandle& semaphore);
std::shared_ptr<ExternalSemaphore::Impl> make_external_semaphore(const std::shared_ptr<Context>& context,
                                                                 ExternalHandleType type, bool is_timeline);

}  // namespace vellum::gpu
