#include "vulkan/context_impl.hpp"
#include "vulkan/external/handle_bits.hpp"
#include "vulkan/external/handle_types.hpp"
#include "vulkan/external/memory.hpp"
#include "vulkan/external/resources.hpp"

namespace vellum {

// The order matters: the buffer is destroyed before its memory.
struct ExternalBuffer::Impl {
  std::shared_ptr<gpu::Context> context;
  uint64_t bytes = 0;
  bool exportable = false;
  gpu::ExportableMemory memory;
  std::byte* data = nullptr;
  gpu::vk::raii::Buffer buffer{nullptr};
};

VkBuffer ExternalBuffer::handle() const { return *checked().buffer; }
VkDeviceSize ExternalBuffer::bytes() const { return checked().bytes; }
std::byte* ExternalBuffer::data() const { return checked().data; }

ExternalMemory ExternalBuffer::export_memory() const {
  const Impl& impl = checked();
  if (!impl.exportable)
    throw Error(ErrorCode::unsupported, "the buffer's memory was imported: its exporter has it to share");
  return gpu::export_memory(*impl.context, impl.memory);
}

const ExternalBuffer::Impl& ExternalBuffer::checked() const {
  if (!impl_)
    throw Error(ErrorCode::invalid_argument, "there is no shared buffer: it was not imported or made");
  return *impl_;
}

}  // namespace vellum

namespace vellum::gpu {
namespace {

std::shared_ptr<ExternalBuffer::Impl> unbound_buffer(const std::shared_ptr<Context>& context, uint64_t bytes,
                                                     VkBufferUsageFlags usage, ExternalHandleType type) {
  if (bytes == 0) throw Error(ErrorCode::invalid_argument, "a shared buffer of no bytes was asked for");
  std::shared_ptr<ExternalBuffer::Impl> impl(new ExternalBuffer::Impl, DeleteWhenIdle());
  const vk::ExternalMemoryBufferCreateInfo external(memory_type_bit(type));
  vk::BufferCreateInfo info({}, bytes, vk::BufferUsageFlags(usage));
  info.setPNext(&external);
  impl->buffer = translated("creating a shared buffer", [&] {
    return vk::raii::Buffer(context->impl().device, info, context->impl().allocator());
  });
  impl->context = context;
  impl->bytes = bytes;
  return impl;
}

void bind(ExternalBuffer::Impl& impl, uint64_t offset) {
  translated("binding a buffer to shared memory",
             [&] { impl.buffer.bindMemory(*impl.memory.memory, offset); });
}

}  // namespace

std::shared_ptr<ExternalBuffer::Impl> import_buffer(const std::shared_ptr<Context>& context,
                                                    const ExternalMemory& memory, uint64_t bytes,
                                                    VkBufferUsageFlags usage, uint64_t offset) {
  const bool dedicated_only = require_buffer(*context, ExternalUse::import_handle, memory.type, usage);
  auto impl = unbound_buffer(context, bytes, usage, memory.type);
  const ExternalResource resource = external_resource(*context, *impl->buffer, dedicated_only);
  ImportedMemory imported = import_memory(*context, memory, resource, offset);
  impl->memory.memory = std::move(imported.memory);
  bind(*impl, offset);
  if (memory.type == ExternalHandleType::host_pointer)
    impl->data = static_cast<std::byte*>(memory.handle);
  else if (memory.type == ExternalHandleType::opaque_fd || memory.type == ExternalHandleType::dma_buf)
    impl->data = map_coherent(*context, impl->memory.memory, imported.memory_type);
  if (impl->data) impl->data += offset;
  consume(memory);
  return impl;
}

std::shared_ptr<ExternalBuffer::Impl> make_external_buffer(const std::shared_ptr<Context>& context,
                                                           uint64_t bytes, VkBufferUsageFlags usage,
                                                           ExternalHandleType type) {
  const bool dedicated_only = require_buffer(*context, ExternalUse::export_handle, type, usage);
  auto impl = unbound_buffer(context, bytes, usage, type);
  impl->memory =
      allocate_exportable(*context, type, external_resource(*context, *impl->buffer, dedicated_only));
  impl->exportable = true;
  bind(*impl, 0);
  if (type != ExternalHandleType::opaque_win32)
    impl->data = map_coherent(*context, impl->memory.memory, impl->memory.description.memory_type);
  return impl;
}

}  // namespace vellum::gpu
