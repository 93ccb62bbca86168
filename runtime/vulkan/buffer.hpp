// A VkBuffer, made unbound, and bound to planned memory later.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vulkan/memory.hpp"

namespace vellum::gpu {

class Context;

// For kernels, which may read it as texels, and copies.
inline constexpr VkBufferUsageFlags kStorageBuffer =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// What a buffer would ask for; without making one where Vulkan 1.3 (maintenance4) is there.
MemoryRequirements buffer_requirements(const Context& context, uint64_t bytes,
                                       VkBufferUsageFlags usage = kStorageBuffer);

class Buffer {
 public:
  // Storage buffers larger than caps().max_storage_buffer_range may be made, but bound to a shader only in
  // parts.
  Buffer(std::shared_ptr<Context> context, uint64_t bytes, VkBufferUsageFlags usage = kStorageBuffer,
         Sharing sharing = Sharing::compute_only);
  ~Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;

  uint64_t size() const;
  VkBuffer handle() const;
  MemoryRequirements requirements() const;
  // Once. The buffer keeps the arena alive. Error(invalid_argument) if it does not fit there.
  void bind(std::shared_ptr<Arena> arena, uint64_t offset);
  const std::shared_ptr<Arena>& arena() const;
  uint64_t arena_offset() const;
  // The buffer's bytes in mapped memory; null where the host cannot reach them.
  std::byte* data() const;
  void flush() const;       // after the host wrote through data(), before submitting
  void invalidate() const;  // after the device wrote, before reading through data()

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A buffer with an arena of its own.
Buffer make_buffer(std::shared_ptr<Context> context, uint64_t bytes, MemoryKind kind, MemoryCategory category,
                   VkBufferUsageFlags usage = kStorageBuffer);

}  // namespace vellum::gpu
