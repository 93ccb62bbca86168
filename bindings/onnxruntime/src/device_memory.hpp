// Tensors of the runtime in Vulkan memory that the host can read: what an application allocates with the
// provider's OrtMemoryInfo and binds as inputs and outputs. Networks read and write it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "runtime_api.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/buffer.hpp"

namespace vellum::ort {

// An allocation. Its address is that of the mapped bytes, so kernels of the runtime may use it, too.
struct DeviceBlock {
  Device device;  // declared first: outlives the buffer
  gpu::Buffer buffer;
  uint64_t number;  // unique in the process; an address may be used again
};

// A place in a block.
struct DevicePlace {
  std::shared_ptr<const DeviceBlock> block;
  uint64_t offset = 0;
};

// Thread-safe. `bytes` are rounded up, so that a network may write a tensor's padding. Throws Error.
void* allocate_device_memory(const Device& device, size_t bytes);
void free_device_memory(void* address) noexcept;  // ignores other addresses
// Returns nothing for an address in other memory.
std::optional<DevicePlace> find_device_memory(const void* address);

// Returns an allocator, which release_device_allocator() frees. It opens the device at the first allocation,
// and returns null where that or the allocation fails.
OrtAllocator* make_device_allocator(const OrtMemoryInfo* info, std::function<Device()> open);
void release_device_allocator(OrtAllocator* allocator) noexcept;

}  // namespace vellum::ort
