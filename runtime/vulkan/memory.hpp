// Device memory. Each Arena is one vkAllocateMemory; the caller's plan assigns offsets in it.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vulkan/delete_when_idle.hpp"
#include "vulkan/memory_budget.hpp"
#include "vulkan/memory_statistics.hpp"

namespace vellum::gpu {

class Context;

// The use of memory, which determines its memory type.
enum class MemoryKind : uint8_t {
  device,    // device-local; need not be host-visible
  upload,    // the host writes, the device reads: host-visible, device-local if there is such a type
  readback,  // the device writes, the host reads: host-visible, cached if there is such a type
};

// The queues that use a buffer or image: only the compute queue, or also the transfer queue.
enum class Sharing : uint8_t { compute_only, all_queues };

// The memory requirements of a buffer or image: VkMemoryRequirements.
struct MemoryRequirements {
  uint64_t size = 0;
  uint64_t alignment = 1;
  uint32_t memory_type_bits = 0;
};

// One allocation of device memory. Resources are bound to ranges of it, and keep it alive.
class Arena {
 public:
  // Allocates memory. memory_type_bits: the intersection of the requirements of all resources that will be
  // bound to it. Throws Error(out_of_memory), which names the category and the bytes, also if the budget of
  // the purpose would be exceeded. Throws Error(unsupported) if no memory type fits.
  Arena(std::shared_ptr<Context> context, uint64_t bytes, uint32_t memory_type_bits, MemoryKind kind,
        const MemoryPurpose& purpose);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint64_t size() const;
  VkDeviceMemory handle() const;
  // The offset of the arena's first byte in handle(): not 0 in memory of the application's allocator.
  uint64_t begin() const;
  uint32_t memory_type() const;
  MemoryCategory category() const;
  bool host_visible() const;
  // The mapped bytes, valid as long as the Arena; null if the memory is not host-visible.
  std::byte* data() const;
  // Make the host's writes visible to the device, and the device's writes visible to the host. No-ops on
  // coherent memory.
  void flush(uint64_t offset, uint64_t bytes) const;
  void invalidate(uint64_t offset, uint64_t bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

// Returns the memory type that an Arena of this kind uses, unless its heap is full. Throws Error(unsupported)
// if there is none.
uint32_t choose_memory_type(const Context& context, uint32_t memory_type_bits, MemoryKind kind);

// Returns a bit for each host-visible memory type.
uint32_t host_visible_memory_types(const Context& context);

}  // namespace vellum::gpu
