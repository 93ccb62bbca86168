#include "vulkan/external/memory.hpp"

#include <string>

#include "platform/file_descriptor.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/external/handle_bits.hpp"
#include "vulkan/external/handle_types.hpp"
#include "vulkan/external/hardware_buffer.hpp"
#include "vulkan/external/win32.hpp"

namespace vellum::gpu {
namespace {

using Type = ExternalHandleType;

[[noreturn]] void refuse_memory(Type type, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "memory as " + std::string(name(type)) + ": " + why);
}

void check_handle(const ExternalMemory& memory) {
  const bool by_fd = memory.type == Type::opaque_fd || memory.type == Type::dma_buf;
  if (by_fd && memory.fd < 0) refuse_memory(memory.type, "there is no file descriptor");
  if (!by_fd && !memory.handle) refuse_memory(memory.type, "the handle is null");
}

// The size of the memory, and the types that it can have.
struct Payload {
  uint64_t bytes = 0;
  uint32_t memory_type_bits = 0;
};

Payload host_payload(const Context& context, const ExternalMemory& memory) {
  const Context::Impl& impl = context.impl();
  using Properties = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT;
  const uint64_t alignment = impl.physical.handle.getProperties2<vk::PhysicalDeviceProperties2, Properties>()
                                 .get<Properties>()
                                 .minImportedHostPointerAlignment;
  if (reinterpret_cast<uintptr_t>(memory.handle) % alignment != 0 || memory.bytes % alignment != 0)
    refuse_memory(memory.type, "the pointer or the size is not a multiple of " + std::to_string(alignment) +
                                   ", as " + context.caps().name + " needs");
  return {memory.bytes,
          impl.device.getMemoryHostPointerPropertiesEXT(memory_type_bit(memory.type), memory.handle)
              .memoryTypeBits};
}

Payload payload_of(const Context& context, const ExternalMemory& memory) {
  switch (memory.type) {
    case Type::dma_buf:
      return {memory.bytes, context.impl()
                                .device.getMemoryFdPropertiesKHR(memory_type_bit(memory.type), memory.fd)
                                .memoryTypeBits};
    case Type::host_pointer:
      return host_payload(context, memory);
    case Type::android_hardware_buffer: {
      const HardwareBufferProperties found = hardware_buffer_properties(context, memory.handle);
      return {found.bytes, found.memory_type_bits};
    }
    default:
      break;
  }
  const uint32_t types = context.impl().memory_properties.memoryTypeCount;
  if (memory.memory_type >= types)
    refuse_memory(memory.type, "the memory type " + std::to_string(memory.memory_type) + " is not one of " +
                                   std::to_string(types));
  return {memory.bytes, 1u << memory.memory_type};
}

uint32_t checked_type(const Context& context, Type type, const Payload& payload,
                      const ExternalResource& resource, uint64_t offset) {
  const vk::MemoryRequirements& needed = resource.needed;
  if (offset % needed.alignment != 0)
    refuse_memory(type, "the offset " + std::to_string(offset) + " is not a multiple of " +
                            std::to_string(needed.alignment));
  if (offset > payload.bytes || needed.size > payload.bytes - offset)
    refuse_memory(type, "it has " + std::to_string(payload.bytes) + " bytes; " + std::to_string(needed.size) +
                            " from " + std::to_string(offset) + " on are needed");
  const uint32_t bits = payload.memory_type_bits & needed.memoryTypeBits;
  if (!bits)
    refuse_memory(type, std::string("no memory type of ") + context.caps().name + " suits both it and the " +
                            (resource.buffer ? "buffer" : "image"));
  return choose_memory_type(context, bits, MemoryKind::device);
}

vk::raii::DeviceMemory allocate_memory(const Context& context, const char* what, uint64_t bytes,
                                       uint32_t type, const void* chain, const ExternalResource* dedicated) {
  vk::MemoryDedicatedAllocateInfo alone;
  if (dedicated) {
    alone.setBuffer(dedicated->buffer).setImage(dedicated->image).setPNext(chain);
    chain = &alone;
  }
  vk::MemoryAllocateInfo info(bytes, type);
  info.setPNext(chain);
  return translated(
      what, [&] { return vk::raii::DeviceMemory(context.impl().device, info, context.impl().allocator()); });
}

template <typename Found>
ExternalResource described(const Found& found, bool dedicated_only) {
  ExternalResource resource;
  resource.needed = found.template get<vk::MemoryRequirements2>().memoryRequirements;
  resource.dedicated =
      dedicated_only || found.template get<vk::MemoryDedicatedRequirements>().requiresDedicatedAllocation;
  return resource;
}

}  // namespace

ExternalResource external_resource(const Context& context, vk::Buffer buffer, bool dedicated_only) {
  ExternalResource resource = described(
      context.impl()
          .device.getBufferMemoryRequirements2<vk::MemoryRequirements2, vk::MemoryDedicatedRequirements>(
              vk::BufferMemoryRequirementsInfo2(buffer)),
      dedicated_only);
  resource.buffer = buffer;
  return resource;
}

ExternalResource external_resource(const Context& context, vk::Image image, bool dedicated_only) {
  ExternalResource resource = described(
      context.impl()
          .device.getImageMemoryRequirements2<vk::MemoryRequirements2, vk::MemoryDedicatedRequirements>(
              vk::ImageMemoryRequirementsInfo2(image)),
      dedicated_only);
  resource.image = image;
  return resource;
}

ImportedMemory import_memory(const Context& context, const ExternalMemory& memory,
                             const ExternalResource& resource, uint64_t offset) {
  check_handle(memory);
  constexpr const char* what = "importing memory";
  const Payload payload = translated(what, [&] { return payload_of(context, memory); });
  const uint32_t type = checked_type(context, memory.type, payload, resource, offset);
  const bool opaque = memory.type == Type::opaque_fd || memory.type == Type::opaque_win32;
  const ExternalResource* const dedicated =
      (opaque ? memory.dedicated : resource.dedicated) ? &resource : nullptr;
  if (opaque && resource.dedicated && !memory.dedicated)
    refuse_memory(memory.type, "the driver wants memory that was allocated for this resource alone");
  const auto import = [&](const void* chain) {
    return ImportedMemory{allocate_memory(context, what, payload.bytes, type, chain, dedicated), type};
  };
  switch (memory.type) {
    case Type::host_pointer: {
      const vk::ImportMemoryHostPointerInfoEXT info(memory_type_bit(memory.type), memory.handle);
      return import(&info);
    }
    case Type::android_hardware_buffer:
      return chain_hardware_buffer(memory.handle, import);
    case Type::opaque_win32:
      return chain_win32_memory(memory.handle, import);
    default:
      break;
  }
  platform::FileDescriptor duplicate = platform::FileDescriptor::duplicate(memory.fd);
  const vk::ImportMemoryFdInfoKHR info(memory_type_bit(memory.type), duplicate.get());
  ImportedMemory imported = import(&info);
  duplicate.release();  // it is the driver's
  return imported;
}

void consume(const ExternalMemory& memory) {
  if (memory.type == Type::opaque_fd || memory.type == Type::dma_buf)
    platform::FileDescriptor closed(memory.fd);
}

ExportableMemory allocate_exportable(const Context& context, Type type, const ExternalResource& resource) {
  if (type == Type::host_pointer || type == Type::android_hardware_buffer)
    refuse_external(context, ExternalUse::export_handle, "memory", type,
                    "Vellum does not make such memory; import it");
  const uint32_t memory_type =
      choose_memory_type(context, resource.needed.memoryTypeBits, MemoryKind::device);
  const vk::ExportMemoryAllocateInfo info(memory_type_bit(type));
  ExportableMemory made;
  made.memory = allocate_memory(context, "allocating memory to share", resource.needed.size, memory_type,
                                &info, resource.dedicated ? &resource : nullptr);
  made.description.type = type;
  made.description.bytes = resource.needed.size;
  made.description.memory_type = memory_type;
  made.description.dedicated = resource.dedicated;
  return made;
}

ExternalMemory export_memory(const Context& context, const ExportableMemory& memory) {
  ExternalMemory exported = memory.description;
  translated("exporting memory", [&] {
    if (exported.type == Type::opaque_win32)
      exported.handle = export_win32_memory(context, *memory.memory);
    else
      exported.fd = context.impl().device.getMemoryFdKHR({*memory.memory, memory_type_bit(exported.type)});
  });
  return exported;
}

std::byte* map_coherent(const Context& context, const vk::raii::DeviceMemory& memory, uint32_t memory_type) {
  constexpr auto wanted =
      vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent;
  const vk::MemoryPropertyFlags flags =
      context.impl().memory_properties.memoryTypes[memory_type].propertyFlags;
  if ((flags & wanted) != wanted) return nullptr;
  return static_cast<std::byte*>(
      translated("mapping shared memory", [&] { return memory.mapMemory(0, VK_WHOLE_SIZE); }));
}

}  // namespace vellum::gpu
