#include "vulkan/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/image.hpp"

namespace vellum::gpu {
namespace {

constexpr Scope kEverything{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};

// Rows of one slice, or whole slices, tightly packed in the buffer.
VkBufferImageCopy image_region(const ImageDesc& desc, uint64_t buffer_offset, uint32_t row, uint32_t rows,
                               uint32_t slice, uint32_t slices) {
  VkBufferImageCopy region{};
  region.bufferOffset = buffer_offset;
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageOffset = {0, static_cast<int32_t>(row), static_cast<int32_t>(slice)};
  region.imageExtent = {desc.width, rows, slices};
  return region;
}

}  // namespace

struct Uploader::Impl {
  // A staging buffer and the copies from it.
  struct Slot {
    std::optional<Buffer> staging;
    std::optional<CommandBuffer> commands;
    std::optional<Fence> fence;
  };

  std::shared_ptr<Context> context;
  UploaderOptions options;
  uint64_t capacity = 0;  // of each slot
  std::vector<Slot> slots;
  size_t current = 0;  // the slot that the host fills
  uint64_t used = 0;
  bool recording = false, unsignalled = false;

  Slot& slot() { return slots[current]; }
  QueueKind queue() const { return options.beside_compute ? QueueKind::transfer : QueueKind::compute; }
  // Barriers between the copies and other work on their queue. With beside_compute the caller has waited for
  // earlier uses of the memory, and on another queue a semaphore orders later uses.
  Scope before() const { return options.beside_compute ? kNothing : kEverything; }
  Scope after() const {
    if (!options.beside_compute) return kEverything;
    return context->has_transfer_queue() ? Scope{VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0} : kComputeRead;
  }

  std::byte* reserve(uint64_t bytes);
  void begin_slot();
  void flush(const Semaphore* signal = nullptr);
  void wait();
  // Copies at least one row of the image, and as many as fit. Returns the number of rows.
  uint64_t upload_part(const Image& to, std::span<const std::byte> texels, uint64_t row);
};

// Reserves `bytes` at `used`; may submit earlier copies to make space. Returns the address.
std::byte* Uploader::Impl::reserve(uint64_t bytes) {
  if (bytes > capacity) {  // a row of a very wide image
    flush();
    wait();
    for (Slot& old : slots) old.staging.reset();
    capacity = bytes;
  }
  used = staged_bytes(used);  // copies need multiples of 4 and of the texel
  if (used + bytes > capacity) flush();
  if (!recording) begin_slot();
  return slot().staging->data() + used;
}

void Uploader::Impl::begin_slot() {
  Slot& next = slot();
  if (!next.staging)
    next.staging =
        make_buffer(context, capacity, MemoryKind::upload, {MemoryCategory::staging, options.memory_budget},
                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  if (!next.commands) next.commands.emplace(context, queue());
  if (!next.fence) next.fence.emplace(context);
  next.fence->wait();
  next.commands->begin(true);
  recording = true;
  used = 0;
}

void Uploader::Impl::flush(const Semaphore* signal) {
  if (!recording) return;
  Slot& full = slot();
  full.commands->barrier(kTransferWrite, after());
  full.commands->end();
  recording = false;
  full.staging->flush();
  vellum::gpu::submit(*context, *full.commands, *full.fence, {queue(), {}, signal});
  unsignalled = signal == nullptr;
  current = (current + 1) % slots.size();
  used = 0;
}

void Uploader::Impl::wait() {
  for (Slot& sent : slots)
    if (sent.fence) sent.fence->wait();
}

uint64_t Uploader::Impl::upload_part(const Image& to, std::span<const std::byte> texels, uint64_t row) {
  const ImageDesc& desc = to.desc();
  const uint64_t row_bytes = uint64_t{desc.width} * bytes_per_texel(desc.format);
  reserve(row_bytes);
  const uint64_t room = (capacity - used) / row_bytes;
  const auto in_slice = static_cast<uint32_t>(row % desc.height),
             slice = static_cast<uint32_t>(row / desc.height);
  uint32_t rows = static_cast<uint32_t>(std::min<uint64_t>(room, desc.height - in_slice)), slices = 1;
  if (in_slice == 0 && room >= desc.height)
    slices = static_cast<uint32_t>(std::min<uint64_t>(room / desc.height, desc.depth - slice));
  const uint64_t part = uint64_t{rows} * slices;
  std::memcpy(slot().staging->data() + used, texels.data() + row * row_bytes, part * row_bytes);
  const VkBufferImageCopy region = image_region(desc, used, in_slice, rows, slice, slices);
  context->impl().device.getDispatcher()->vkCmdCopyBufferToImage(
      slot().commands->handle(), slot().staging->handle(), to.handle(),
      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
  used += part * row_bytes;
  return part;
}

Uploader::Uploader(std::shared_ptr<Context> context, uint64_t bytes, const UploaderOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->capacity = staging_capacity(bytes);
  impl_->options = options;
  impl_->slots.resize(std::max(options.staging_buffers, 1u));
  impl_->context = std::move(context);
}

Uploader::~Uploader() = default;

void Uploader::upload(const Buffer& to, uint64_t offset, std::span<const std::byte> bytes) {
  if (offset > to.size() || bytes.size() > to.size() - offset)
    throw Error(ErrorCode::invalid_argument, "an upload of " + std::to_string(bytes.size()) +
                                                 " bytes at offset " + std::to_string(offset) +
                                                 " ends beyond the buffer of " + std::to_string(to.size()) +
                                                 " bytes");
  if (bytes.empty()) return;
  if (std::byte* mapped = to.data()) {
    std::memcpy(mapped + offset, bytes.data(), bytes.size());
    to.arena()->flush(to.arena_offset() + offset, bytes.size());
    return;
  }
  while (!bytes.empty()) {
    impl_->reserve(1);
    Impl::Slot& slot = impl_->slot();
    const uint64_t part = std::min<uint64_t>(bytes.size(), impl_->capacity - impl_->used);
    std::memcpy(slot.staging->data() + impl_->used, bytes.data(), part);
    slot.commands->copy(*slot.staging, impl_->used, to, offset, part);
    impl_->used += part;
    offset += part;
    bytes = bytes.subspan(part);
  }
}

void Uploader::upload(const Image& to, std::span<const std::byte> texels) {
  const ImageDesc& desc = to.desc();
  if (texels.size() != desc.byte_size())
    throw Error(ErrorCode::invalid_argument, "an image of " + std::to_string(desc.byte_size()) +
                                                 " bytes was to be filled with " +
                                                 std::to_string(texels.size()));
  impl_->reserve(1);
  const ImageTransition begin{&to, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL};
  impl_->slot().commands->barrier(impl_->before(), kTransferWrite, {&begin, 1});
  const uint64_t rows = uint64_t{desc.height} * desc.depth;
  for (uint64_t row = 0; row < rows;) row += impl_->upload_part(to, texels, row);
  const ImageTransition end{&to, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL};
  impl_->slot().commands->barrier(kTransferWrite, impl_->after(), {&end, 1});
}

bool Uploader::submit(const Semaphore* signal) {
  if (!impl_->recording && !impl_->unsignalled) return false;
  // The signal also covers the copies of earlier slots: it follows everything submitted before.
  if (signal) impl_->reserve(1);
  impl_->flush(signal);
  impl_->unsignalled = false;
  return true;
}

void Uploader::discard() {
  if (impl_->recording) impl_->slot().commands->end();
  impl_->recording = impl_->unsignalled = false;
}

void Uploader::wait() { impl_->wait(); }

void Uploader::finish() {
  submit();
  wait();
  for (Impl::Slot& slot : impl_->slots) slot = {};
}

namespace {

// Copies to a host-readable buffer, after all work submitted before.
template <typename Record>
std::vector<std::byte> read_through_staging(const std::shared_ptr<Context>& context, uint64_t bytes,
                                            const MemoryPurpose& purpose, Record&& record) {
  const Buffer staging =
      make_buffer(context, bytes, MemoryKind::readback, purpose, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  CommandBuffer commands(context);
  commands.begin(true);
  commands.barrier(kEverything, kTransferRead | kTransferWrite);
  record(commands, staging);
  commands.barrier(kTransferWrite, kHostRead);
  commands.end();
  submit_and_wait(*context, commands);
  staging.invalidate();
  return {staging.data(), staging.data() + bytes};
}

}  // namespace

std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Buffer& from,
                                const std::shared_ptr<MemoryBudget>& memory_budget) {
  return read_through_staging(context, from.size(), {MemoryCategory::staging, memory_budget},
                              [&](CommandBuffer& commands, const Buffer& staging) {
                                commands.copy(from, 0, staging, 0, from.size());
                              });
}

std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Image& from) {
  const ImageDesc& desc = from.desc();
  const auto record = [&](CommandBuffer& commands, const Buffer& staging) {
    const ImageTransition there{&from, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const ImageTransition back{&from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL};
    const VkBufferImageCopy region = image_region(desc, 0, 0, desc.height, 0, desc.depth);
    commands.barrier(kEverything, kTransferRead, {&there, 1});
    context->impl().device.getDispatcher()->vkCmdCopyImageToBuffer(
        commands.handle(), from.handle(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, staging.handle(), 1, &region);
    commands.barrier(kTransferRead, kEverything, {&back, 1});
  };
  return read_through_staging(context, desc.byte_size(), MemoryCategory::staging, record);
}

}  // namespace vellum::gpu
