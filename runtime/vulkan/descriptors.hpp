// Descriptor sets: all the sets of a session from one pool of exactly their size.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <span>

namespace vellum::gpu {

class Buffer;
class Context;
class Image;
class Pipeline;

// What goes to one binding: an image, or a range of a buffer.
struct BoundResource {
  const Image* image = nullptr;
  const Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = VK_WHOLE_SIZE;  // from offset

  BoundResource(const Image& bound) : image(&bound) {}
  BoundResource(const Buffer& bound, uint64_t first = 0, uint64_t range = VK_WHOLE_SIZE)
      : buffer(&bound), offset(first), bytes(range) {}
};

class DescriptorSets {
 public:
  // One set per entry; entries may repeat a pipeline.
  DescriptorSets(std::shared_ptr<Context> context,
                 std::span<const std::shared_ptr<const Pipeline>> pipelines);
  ~DescriptorSets();
  DescriptorSets(DescriptorSets&&) noexcept;
  DescriptorSets& operator=(DescriptorSets&&) noexcept;

  size_t size() const;
  // The null handle for a pipeline without bindings.
  VkDescriptorSet operator[](size_t index) const;
  // One resource per binding of the pipeline. Error(invalid_argument) if kinds or numbers differ, or an
  // offset is not aligned; Error(unsupported) if a range is past the device's limit. The set must not be in
  // use.
  void write(size_t index, std::span<const BoundResource> resources);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum::gpu
