// A buffer or image that is made first and bound to memory later, together with others of its kind.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/program.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/image.hpp"

namespace vellum {

// One of the two, or neither.
struct DeviceSlot {
  std::unique_ptr<gpu::Buffer> buffer;
  std::unique_ptr<gpu::Image> image;

  gpu::MemoryRequirements requirements() const;
  void bind(std::shared_ptr<gpu::Arena> arena, uint64_t offset);
  const std::shared_ptr<gpu::Arena>& arena() const;
  // What a shader binds to reach a tensor of `bytes` that lives here, of buffers from `offset` on.
  gpu::BoundResource resource(uint64_t bytes, uint64_t offset = 0) const;
};

gpu::ImageDesc image_desc(Storage storage, ElementType element, const Extent3& extent);
// Room for one tensor.
DeviceSlot make_slot(const std::shared_ptr<gpu::Context>& context, const TensorDesc& desc,
                     gpu::Sharing sharing = gpu::Sharing::compute_only);

// Packs the slots into as few allocations as the device's limit on one allocation and the memory types allow.
// Gives back the bytes that were passed to vkAllocateMemory.
uint64_t bind_together(const std::shared_ptr<gpu::Context>& context, std::vector<DeviceSlot*> slots,
                       gpu::MemoryKind kind, gpu::MemoryCategory category);

}  // namespace vellum
