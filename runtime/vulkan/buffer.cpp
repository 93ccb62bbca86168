#include "vulkan/buffer.hpp"

#include <string>

#include "vulkan/binding_check.hpp"
#include "vulkan/context_impl.hpp"

namespace vellum::gpu {
namespace {

vk::BufferCreateInfo buffer_info(uint64_t bytes, VkBufferUsageFlags usage) {
  if (bytes == 0) throw Error(ErrorCode::invalid_argument, "a buffer of no bytes was asked for");
  return {{}, bytes, vk::BufferUsageFlags(usage)};
}

std::string making(uint64_t bytes) { return "creating a buffer of " + std::to_string(bytes) + " bytes"; }

}  // namespace

struct Buffer::Impl {
  std::shared_ptr<Context> context;
  uint64_t bytes = 0;
  std::shared_ptr<Arena> arena;
  uint64_t arena_offset = 0;
  vk::raii::Buffer handle{nullptr};  // last, so destroyed before the memory
};

uint64_t memory_bytes(const Context& context, VkBuffer buffer) {
  const vk::raii::Device& device = context.impl().device;
  VkMemoryRequirements requirements{};
  device.getDispatcher()->vkGetBufferMemoryRequirements(*device, buffer, &requirements);
  return requirements.size;
}

MemoryRequirements buffer_requirements(const Context& context, uint64_t bytes, VkBufferUsageFlags usage) {
  const Context::Impl& impl = context.impl();
  const vk::BufferCreateInfo info = buffer_info(bytes, usage);
  return translated(making(bytes), [&] {
    if (impl.has_maintenance4())
      return plain(impl.device.getBufferMemoryRequirements(vk::DeviceBufferMemoryRequirements(&info))
                       .memoryRequirements);
    return plain(vk::raii::Buffer(impl.device, info, impl.allocator()).getMemoryRequirements());
  });
}

Buffer::Buffer(std::shared_ptr<Context> context, uint64_t bytes, VkBufferUsageFlags usage, Sharing sharing)
    : impl_(new Impl) {
  vk::BufferCreateInfo info = buffer_info(bytes, usage);
  const std::vector<uint32_t> families = context->impl().sharing_families(sharing);
  if (!families.empty()) info.setSharingMode(vk::SharingMode::eConcurrent).setQueueFamilyIndices(families);
  impl_->handle = translated(making(bytes), [&] {
    return vk::raii::Buffer(context->impl().device, info, context->impl().allocator());
  });
  impl_->context = std::move(context);
  impl_->bytes = bytes;
}

Buffer::~Buffer() = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;

uint64_t Buffer::size() const { return impl_->bytes; }
VkBuffer Buffer::handle() const { return *impl_->handle; }
MemoryRequirements Buffer::requirements() const { return plain(impl_->handle.getMemoryRequirements()); }
const std::shared_ptr<Arena>& Buffer::arena() const { return impl_->arena; }
uint64_t Buffer::arena_offset() const { return impl_->arena_offset; }

void Buffer::bind(std::shared_ptr<Arena> arena, uint64_t offset) {
  check_binding("buffer", requirements(), *arena, offset, impl_->arena != nullptr);
  translated("binding a buffer to memory",
             [&] { impl_->handle.bindMemory(arena->handle(), arena->begin() + offset); });
  impl_->arena = std::move(arena);
  impl_->arena_offset = offset;
}

std::byte* Buffer::data() const {
  std::byte* base = impl_->arena ? impl_->arena->data() : nullptr;
  return base ? base + impl_->arena_offset : nullptr;
}

void Buffer::flush() const {
  if (impl_->arena) impl_->arena->flush(impl_->arena_offset, impl_->bytes);
}

void Buffer::invalidate() const {
  if (impl_->arena) impl_->arena->invalidate(impl_->arena_offset, impl_->bytes);
}

Buffer make_buffer(std::shared_ptr<Context> context, uint64_t bytes, MemoryKind kind,
                   const MemoryPurpose& purpose, VkBufferUsageFlags usage) {
  Buffer buffer(context, bytes, usage);
  const MemoryRequirements needed = buffer.requirements();
  buffer.bind(
      std::make_shared<Arena>(std::move(context), needed.size, needed.memory_type_bits, kind, purpose), 0);
  return buffer;
}

}  // namespace vellum::gpu
