// Memory of one buffer or image that is imported from a handle, or can be exported as one.
#pragma once

#include "vellum/external.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

class Context;

// The buffer or image that the memory is for.
struct ExternalResource {
  vk::Buffer buffer;
  vk::Image image;
  vk::MemoryRequirements needed;
  bool dedicated = false;  // the memory must be a dedicated allocation
};

// Query the driver. `dedicated_only`: the result of require_buffer() or require_image().
ExternalResource external_resource(const Context& context, vk::Buffer buffer, bool dedicated_only);
ExternalResource external_resource(const Context& context, vk::Image image, bool dedicated_only);

struct ImportedMemory {
  vk::raii::DeviceMemory memory{nullptr};
  uint32_t memory_type = 0;
};

// Imports a handle. The driver gets a duplicate of a file descriptor, so that the caller can close the
// original with consume() when nothing can fail any more. `offset`: the resource's offset in the memory.
ImportedMemory import_memory(const Context& context, const ExternalMemory& memory,
                             const ExternalResource& resource, uint64_t offset);
void consume(const ExternalMemory& memory);

// Memory, and the description with which it is exported, without the handle.
struct ExportableMemory {
  vk::raii::DeviceMemory memory{nullptr};
  ExternalMemory description;
};
ExportableMemory allocate_exportable(const Context& context, ExternalHandleType type,
                                     const ExternalResource& resource);
// Adds a new handle to the description.
ExternalMemory export_memory(const Context& context, const ExportableMemory& memory);

// Maps memory of a type that is host-visible and coherent; null otherwise.
std::byte* map_coherent(const Context& context, const vk::raii::DeviceMemory& memory, uint32_t memory_type);

}  // namespace vellum::gpu
