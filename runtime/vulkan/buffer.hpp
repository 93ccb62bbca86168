// A VkBuffer that is created without memory and bound to a planned offset of an arena later.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vulkan/delete_when_idle.hpp"
#include "vulkan/memory.hpp"

namespace vellum::gpu {

class Context;

// The usage of buffers that kernels access, possibly as texel buffers, and that are copied.
inline constexpr VkBufferUsageFlags kStorageBuffer =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// Returns the memory requirements of a buffer. With Vulkan 1.3 (maintenance4) no buffer is created for the
// query.
MemoryRequirements buffer_requirements(const Context& context, uint64_t bytes,
                                       VkBufferUsageFlags usage = kStorageBuffer);

// Returns the memory size of a buffer of the application.
uint64_t memory_bytes(const Context& context, VkBuffer buffer);

class Buffer {
 public:
  // A storage buffer may be larger than caps().max_storage_buffer_range; shaders can then only bind ranges of
  // it.
  Buffer(std::shared_ptr<Context> context, uint64_t bytes, VkBufferUsageFlags usage = kStorageBuffer,
         Sharing sharing = Sharing::compute_only);
  ~Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;

  uint64_t size() const;
  VkBuffer handle() const;
  MemoryRequirements requirements() const;
  // Binds memory, once. The buffer keeps the arena alive. Throws Error(invalid_argument) if it does not fit
  // there.
  void bind(std::shared_ptr<Arena> arena, uint64_t offset);
  const std::shared_ptr<Arena>& arena() const;
  uint64_t arena_offset() const;
  // The buffer's bytes in mapped memory; null if the memory is not host-visible.
  std::byte* data() const;
  void flush() const;       // after the host wrote through data(), before submitting
  void invalidate() const;  // after the device wrote, before reading through data()

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

// Creates a buffer in a new arena.
Buffer make_buffer(std::shared_ptr<Context> context, uint64_t bytes, MemoryKind kind,
                   const MemoryPurpose& purpose, VkBufferUsageFlags usage = kStorageBuffer);

}  // namespace vellum::gpu
