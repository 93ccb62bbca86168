// A buffer or image that is created first and bound to memory later, together with others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/image.hpp"

namespace vellum {

// Holds either a buffer or an image, or neither.
struct DeviceSlot {
  std::unique_ptr<gpu::Buffer> buffer;
  std::unique_ptr<gpu::Image> image;

  gpu::MemoryRequirements requirements() const;
  void bind(std::shared_ptr<gpu::Arena> arena, uint64_t offset);
  const std::shared_ptr<gpu::Arena>& arena() const;
  // Names the object for debuggers.
  void set_name(const gpu::Context& context, const std::string& name) const;
  // Returns the descriptor of a tensor of `bytes` in this slot; in a buffer the tensor begins at `offset`.
  gpu::BoundResource resource(uint64_t bytes, uint64_t offset = 0) const;
};

gpu::ImageDesc image_desc(Storage storage, ElementType element, const Extent3& extent);
// Creates a buffer or image for one tensor; bind_together() gives it memory.
DeviceSlot make_slot(const std::shared_ptr<gpu::Context>& context, const TensorDesc& desc,
                     gpu::Sharing sharing = gpu::Sharing::compute_only);

// Places the slots in as few allocations as the device's limits and the memory types allow. Returns the bytes
// that were passed to vkAllocateMemory.
uint64_t bind_together(const std::shared_ptr<gpu::Context>& context, std::vector<DeviceSlot*> slots,
                       gpu::MemoryKind kind, const gpu::MemoryPurpose& purpose);

}  // namespace vellum
