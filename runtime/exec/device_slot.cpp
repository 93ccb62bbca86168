#include "exec/device_slot.hpp"

#include <algorithm>

#include "exec/device_tensors.hpp"
#include "plan/place_in_order.hpp"
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

void DeviceSlot::set_name(const gpu::Context& context, const std::string& name) const {
  if (image)
    context.name_object(VK_OBJECT_TYPE_IMAGE, reinterpret_cast<uint64_t>(image->handle()), name);
  else
    context.name_object(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(buffer->handle()), name);
}

gpu::BoundResource DeviceSlot::resource(uint64_t bytes, uint64_t offset) const {
  if (image) return gpu::BoundResource(*image);
  return gpu::BoundResource(*buffer, offset, bytes);
}

gpu::ImageDesc image_desc(Storage storage, ElementType element, const Extent3& extent) {
  const gpu::ImageFormat format = element == ElementType::f16  ? gpu::ImageFormat::rgba16f
                                  : element == ElementType::q8 ? gpu::ImageFormat::rgba8ui
                                                               : gpu::ImageFormat::rgba32f;
  return {storage == Storage::image3d, extent.width, extent.height, extent.depth, format};
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

uint64_t bind_together(const std::shared_ptr<gpu::Context>& context, std::vector<DeviceSlot*> slots,
                       gpu::MemoryKind kind, const gpu::MemoryPurpose& purpose) {
  const auto buffers = std::stable_partition(slots.begin(), slots.end(),
                                             [](const DeviceSlot* slot) { return slot->image != nullptr; });
  std::vector<MemoryNeed> needs;
  for (const DeviceSlot* slot : slots) {
    const gpu::MemoryRequirements need = slot->requirements();
    needs.push_back({need.size, need.alignment, need.memory_type_bits});
  }
  const Placement placement =
      place_in_order(needs, static_cast<size_t>(buffers - slots.begin()), device_rules(context));
  std::vector<std::shared_ptr<gpu::Arena>> arenas;
  for (const PlannedArena& arena : placement.arenas)
    arenas.push_back(std::make_shared<gpu::Arena>(context, arena.bytes, arena.memory_types, kind, purpose));
  for (size_t i = 0; i < slots.size(); ++i)
    slots[i]->bind(arenas[placement.places[i].arena], placement.places[i].offset);
  return placement.total_bytes();
}

}  // namespace vellum
