#include "exec/device_tensors.hpp"

#include <algorithm>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"
#include "vulkan/transfer.hpp"

namespace vellum {
namespace {

gpu::ImageDesc image_desc(Storage storage, ElementType element, const Extent3& extent) {
  return {storage == Storage::image3d, extent.width, extent.height, extent.depth,
          element == ElementType::f16 ? gpu::ImageFormat::rgba16f : gpu::ImageFormat::rgba32f};
}

uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

}  // namespace

DeviceTensors::DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program, const MemoryPlan& plan)
    : context_(std::move(context)), program_(program), plan_(plan), own_(program.tensors.size()) {
  make_objects();
  std::vector<Slot*> weights, inputs, outputs;
  for (TensorId id = 0; id < program_.tensors.size(); ++id) {
    if (program_.root(id) != id) continue;
    const TensorRole role = program_.tensors[id].role;
    std::vector<Slot*>* group = role == TensorRole::weight   ? &weights
                                : role == TensorRole::input  ? &inputs
                                : role == TensorRole::output ? &outputs
                                                             : nullptr;
    if (!group) continue;
    own_[id] = make_slot(program_.tensors[id].desc);
    group->push_back(&own_[id]);
  }
  allocated_.weights = bind(weights, gpu::MemoryKind::device, gpu::MemoryCategory::weights);
  allocated_.in_out = bind(inputs, gpu::MemoryKind::upload, gpu::MemoryCategory::in_out) +
                      bind(outputs, gpu::MemoryKind::readback, gpu::MemoryCategory::in_out);
  upload_weights();
}

DeviceTensors::Slot DeviceTensors::make_slot(const TensorDesc& desc) const {
  Slot slot;
  if (desc.storage == Storage::buffer)
    slot.buffer = std::make_unique<gpu::Buffer>(context_, desc.byte_size());
  else
    slot.image = std::make_unique<gpu::Image>(context_, image_desc(desc.storage, desc.element, desc.extent()));
  return slot;
}

void DeviceTensors::make_objects() {
  std::vector<Slot*> slots;
  objects_.reserve(plan_.objects.size());
  for (const SharedObject& object : plan_.objects) {
    Slot slot;
    if (object.kind == Storage::buffer)
      slot.buffer = std::make_unique<gpu::Buffer>(context_, object.bytes);
    else
      slot.image = std::make_unique<gpu::Image>(context_, image_desc(object.kind, object.element, object.extent));
    objects_.push_back(std::move(slot));
    slots.push_back(&objects_.back());
  }
  allocated_.intermediates = bind(slots, gpu::MemoryKind::device, gpu::MemoryCategory::intermediates);
}

// Packs the objects into as few allocations as the device's limit on one allocation and the memory types allow:
// images first, then buffers, with the granularity that must lie between them.
uint64_t DeviceTensors::bind(std::vector<Slot*> slots, gpu::MemoryKind kind, gpu::MemoryCategory category) {
  std::stable_partition(slots.begin(), slots.end(), [](const Slot* slot) { return slot->image != nullptr; });
  uint64_t allocated = 0;
  for (size_t first = 0; first < slots.size();) {
    uint32_t types = UINT32_MAX;
    uint64_t size = 0;
    std::vector<uint64_t> offsets;
    size_t end = first;
    for (; end < slots.size(); ++end) {
      const Slot& slot = *slots[end];
      const gpu::MemoryRequirements need = slot.image ? slot.image->requirements() : slot.buffer->requirements();
      const bool crosses = end > first && slot.buffer && slots[end - 1]->image;
      const uint64_t alignment = std::max(need.alignment, crosses ? context_->caps().buffer_image_granularity : 1);
      const uint64_t offset = round_up(size, alignment);
      const bool fits = offset + need.size <= context_->caps().max_allocation_bytes && (types & need.memory_type_bits);
      if (!fits && end > first) break;
      types &= need.memory_type_bits;
      offsets.push_back(offset);
      size = offset + need.size;
    }
    auto arena = std::make_shared<gpu::Arena>(context_, size, types, kind, category);
    for (size_t i = first; i < end; ++i) {
      if (slots[i]->image)
        slots[i]->image->bind(arena, offsets[i - first]);
      else
        slots[i]->buffer->bind(arena, offsets[i - first]);
    }
    allocated += size;
    first = end;
  }
  return allocated;
}

void DeviceTensors::upload_weights() {
  gpu::Uploader uploader(context_);
  for (TensorId id = 0; id < program_.tensors.size(); ++id) {
    const VirtualTensor& tensor = program_.tensors[id];
    if (tensor.role != TensorRole::weight || program_.root(id) != id) continue;
    const std::vector<std::byte> bytes = tensor.pack();
    if (bytes.size() != tensor.desc.byte_size())
      throw Error(ErrorCode::internal, "weight '" + tensor.name + "' packs to " + std::to_string(bytes.size()) +
                                           " bytes instead of " + std::to_string(tensor.desc.byte_size()));
    if (own_[id].image)
      uploader.upload(*own_[id].image, bytes);
    else
      uploader.upload(*own_[id].buffer, 0, bytes);
  }
  uploader.finish();
}

const DeviceTensors::Slot& DeviceTensors::slot(TensorId id) const {
  const uint32_t object = plan_.object_of[id];
  const Slot& slot = object != kNoObject ? objects_[object] : own_[program_.root(id)];
  if (!slot.buffer && !slot.image)
    throw Error(ErrorCode::internal, "tensor '" + program_.tensors[id].name + "' has no memory");
  return slot;
}

gpu::BoundResource DeviceTensors::resource(TensorId id) const {
  const Slot& found = slot(id);
  if (found.image) return gpu::BoundResource(*found.image);
  return gpu::BoundResource(*found.buffer, 0, program_.tensors[id].desc.byte_size());
}

const gpu::Buffer& DeviceTensors::buffer(TensorId id) const {
  const Slot& found = slot(id);
  if (!found.buffer) throw Error(ErrorCode::internal, "tensor '" + program_.tensors[id].name + "' is not a buffer");
  return *found.buffer;
}

const gpu::Image& DeviceTensors::object_image(uint32_t object) const { return *objects_.at(object).image; }

}  // namespace vellum
