// Device memory: each Arena is one vkAllocateMemory, and the caller's plan says what lies where in it.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vulkan/memory_statistics.hpp"

namespace vellum::gpu {

class Context;

// What memory is for; the memory type follows from it and from what the device offers.
enum class MemoryKind : uint8_t {
  device,    // device-local; the host need not reach it
  upload,    // the host writes, the device reads: host-visible, device-local where there is such a type
  readback,  // the device writes, the host reads: host-visible, cached where there is such a type
};

// Which queues use a buffer or image: the compute queue alone, or the transfer queue too.
enum class Sharing : uint8_t { compute_only, all_queues };

// What Vulkan asks of the memory of a buffer or image.
struct MemoryRequirements {
  uint64_t size = 0;
  uint64_t alignment = 1;
  uint32_t memory_type_bits = 0;
};

class Arena {
 public:
  // memory_type_bits: the intersection of the requirements of all that will be bound here.
  // Error(out_of_memory) names the category and the bytes; Error(unsupported) if no memory type fits.
  Arena(std::shared_ptr<Context> context, uint64_t bytes, uint32_t memory_type_bits, MemoryKind kind,
        MemoryCategory category);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint64_t size() const;
  VkDeviceMemory handle() const;
  uint32_t memory_type() const;
  MemoryCategory category() const;
  bool host_visible() const;
  // The mapped bytes, for as long as the Arena lives; null where the host cannot reach the memory.
  std::byte* data() const;
  // Make the host's writes visible to the device, and the device's to the host. Nothing to do on coherent
  // memory.
  void flush(uint64_t offset, uint64_t bytes) const;
  void invalidate(uint64_t offset, uint64_t bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The memory type that an Arena of this kind would take; Error(unsupported) if there is none.
uint32_t choose_memory_type(const Context& context, uint32_t memory_type_bits, MemoryKind kind);

// Memory type bits of the types that the host can reach, e.g. to put input and output buffers apart.
uint32_t host_visible_memory_types(const Context& context);

}  // namespace vellum::gpu
