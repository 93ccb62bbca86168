// Memory and semaphores that a Device shares with other processes: vellum/external.hpp.
#include "vellum/external.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "vulkan/external/handle_types.hpp"
#include "vulkan/external/resources.hpp"

namespace vellum {

std::vector<ExternalSupport> external_support(const Device& device) {
  return guard([&] { return gpu::list_external_support(*impl(device)->context); });
}

ExternalBuffer ExternalBuffer::import(const Device& device, const ExternalMemory& memory, VkDeviceSize bytes,
                                      VkBufferUsageFlags usage, VkDeviceSize offset) {
  return guard([&] {
    return ExternalBuffer(gpu::import_buffer(vellum::impl(device)->context, memory, bytes, usage, offset));
  });
}

ExternalBuffer ExternalBuffer::make(const Device& device, VkDeviceSize bytes, VkBufferUsageFlags usage,
                                    ExternalHandleType type) {
  return guard([&] {
    return ExternalBuffer(gpu::make_external_buffer(vellum::impl(device)->context, bytes, usage, type));
  });
}

ExternalImage ExternalImage::import(const Device& device, const ExternalMemory& memory,
                                    VkImageCreateInfo info) {
  return guard([&] { return ExternalImage(gpu::import_image(vellum::impl(device)->context, memory, info)); });
}

ExternalImage ExternalImage::make(const Device& device, VkImageCreateInfo info, ExternalHandleType type) {
  return guard(
      [&] { return ExternalImage(gpu::make_external_image(vellum::impl(device)->context, info, type)); });
}

ExternalSemaphore ExternalSemaphore::import(const Device& device, const ExternalSemaphoreHandle& semaphore) {
  return guard(
      [&] { return ExternalSemaphore(gpu::import_semaphore(vellum::impl(device)->context, semaphore)); });
}

ExternalSemaphore ExternalSemaphore::make(const Device& device, ExternalHandleType type, bool is_timeline) {
  return guard([&] {
    return ExternalSemaphore(gpu::make_external_semaphore(vellum::impl(device)->context, type, is_timeline));
  });
}

}  // namespace vellum
