// The descriptor sets of a session, in one pool of exactly their size.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <span>

#include "vulkan/delete_when_idle.hpp"

namespace vellum::gpu {

class Buffer;
class Context;
class Image;
class Pipeline;

// The resource of one binding: an image, or a range of a buffer.
struct BoundResource {
  const Image* image = nullptr;
  VkImageView view = VK_NULL_HANDLE;  // view of an image of the application
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t buffer_bytes = 0;  // size of the whole buffer
  uint64_t offset = 0;
  uint64_t bytes = VK_WHOLE_SIZE;  // size of the range at `offset`

  BoundResource(const Image& bound) : image(&bound) {}
  BoundResource(VkImageView bound, VkImageLayout bound_layout) : view(bound), layout(bound_layout) {}
  BoundResource(const Buffer& bound, uint64_t first = 0, uint64_t range = VK_WHOLE_SIZE);
  // Binds a buffer of the application.
  BoundResource(VkBuffer bound, uint64_t whole, uint64_t first, uint64_t range)
      : buffer(bound), buffer_bytes(whole), offset(first), bytes(range) {}
};

// The descriptor sets of a list of pipelines, one for each entry.
class DescriptorSets {
 public:
  // Allocates one set for each entry; entries may repeat a pipeline.
  DescriptorSets(std::shared_ptr<Context> context,
                 std::span<const std::shared_ptr<const Pipeline>> pipelines);
  ~DescriptorSets();
  DescriptorSets(DescriptorSets&&) noexcept;
  DescriptorSets& operator=(DescriptorSets&&) noexcept;

  size_t size() const;
  // Returns the null handle for a pipeline without bindings.
  VkDescriptorSet operator[](size_t index) const;
  // Writes one resource for each binding of the pipeline. The set must not be in use. Throws
  // Error(invalid_argument) if kinds or numbers differ, or an offset is not aligned; Error(unsupported) if a
  // range exceeds the device's limit.
  void write(size_t index, std::span<const BoundResource> resources);

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

}  // namespace vellum::gpu
