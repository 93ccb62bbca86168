#include "exec/device_slot.hpp"

#include <algorithm>

#include "kernels/divide.hpp"
#include "vulkan/context.hpp"

namespace vellum {

gpu::MemoryRequirements DeviceSlot::requirements() const {
  return image ? image->requirements() : buffer->requirements();
}

void DeviceSlot::bind(std::shared_ptr<gpu::Arena> arena, uint64_t offset) {
  if (image)
    image->bind(std::move(arena), offset);
  else
    buffer->bind(std::move(arena), offset);
}

const std::shared_ptr<gpu::Arena>& DeviceSlot::arena() const {
  return image ? image->arena() : buffer->arena();
}

gpu::BoundResource DeviceSlot::resource(uint64_t bytes, uint64_t offset) const {
  if (image) return gpu::BoundResource(*image);
  return gpu::BoundResource(*buffer, offset, bytes);
}

gpu::ImageDesc image_desc(Storage storage, ElementType element, const Extent3& extent) {
  return {storage == Storage::image3d, extent.width, extent.height, extent.depth,
          element == ElementType::f16 ? gpu::ImageFormat::rgba16f : gpu::ImageFormat::rgba32f};
}

DeviceSlot make_slot(const std::shared_ptr<gpu::Context>& context, const TensorDesc& desc,
                     gpu::Sharing sharing) {
  DeviceSlot slot;
  if (desc.storage == Storage::buffer)
    slot.buffer = std::make_unique<gpu::Buffer>(context, desc.byte_size(), gpu::kStorageBuffer, sharing);
  else
    slot.image =
        std::make_unique<gpu::Image>(context, image_desc(desc.storage, desc.element, desc.extent()), sharing);
  return slot;
}

// Images first, then buffers, with the granularity that must lie between them.
uint64_t bind_together(const std::shared_ptr<gpu::Context>& context, std::vector<DeviceSlot*> slots,
                       gpu::MemoryKind kind, gpu::MemoryCategory category) {
  std::stable_partition(slots.begin(), slots.end(),
                        [](const DeviceSlot* slot) { return slot->image != nullptr; });
  uint64_t allocated = 0;
  for (size_t first = 0; first < slots.size();) {
    uint32_t types = UINT32_MAX;
    uint64_t size = 0;
    std::vector<uint64_t> offsets;
    size_t end = first;
    for (; end < slots.size(); ++end) {
      const gpu::MemoryRequirements need = slots[end]->requirements();
      const bool crosses = end > first && slots[end]->buffer && slots[end - 1]->image;
      const uint64_t alignment =
          std::max(need.alignment, crosses ? context->caps().buffer_image_granularity : 1);
      const uint64_t offset = round_up(size, alignment);
      const bool fits =
          offset + need.size <= context->caps().max_allocation_bytes && (types & need.memory_type_bits);
      if (!fits && end > first) break;
      types &= need.memory_type_bits;
      offsets.push_back(offset);
      size = offset + need.size;
    }
    auto arena = std::make_shared<gpu::Arena>(context, size, types, kind, category);
    for (size_t i = first; i < end; ++i) slots[i]->bind(arena, offsets[i - first]);
    allocated += size;
    first = end;
  }
  return allocated;
}

}  // namespace vellum
