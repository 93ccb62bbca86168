// The memory requirements of images and buffers on a device, as plain values: an input of planning.
#pragma once

#include <cstdint>
#include <functional>

#include "caps/device_caps.hpp"
#include "program/program.hpp"
#include "vellum/planner/records.hpp"

namespace vellum {

// An image or buffer to be created.
struct ObjectDesc {
  Storage kind = Storage::buffer;
  ElementType element = ElementType::f32;  // for images: the texel format
  Extent3 extent;                          // texels; images only
  uint64_t bytes = 0;                      // without device padding
};
ObjectDesc object_desc(const TensorDesc& desc);
ObjectDesc object_desc(const planner::Size& size);
planner::Size planner_size(const ObjectDesc& desc);

// VkMemoryRequirements in the form that planning uses.
struct MemoryNeed {
  uint64_t bytes = 0, alignment = 1;
  uint32_t memory_types = UINT32_MAX;  // a bit for each suitable type
};

// The properties of a device's memory that planning needs.
struct MemoryRules {
  std::function<MemoryNeed(const ObjectDesc&)> need;
  uint64_t buffer_image_granularity = 1;  // bytes; an image and a buffer may not share a range of this size
  uint64_t max_allocation_bytes = UINT64_MAX;
};

// Returns rules that are modelled from caps, without a device.
MemoryRules modelled_rules(const DeviceCaps& caps);
// Returns rules without padding, except that buffers are rounded up to `alignment` bytes.
MemoryRules tight_rules(uint64_t alignment);

}  // namespace vellum
