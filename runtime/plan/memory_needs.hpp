// What a device asks of the memory of images and buffers, as plain values: an input of planning.
#pragma once

#include <cstdint>
#include <functional>

#include "caps/device_caps.hpp"
#include "program/program.hpp"
#include "vellum/planner/records.hpp"

namespace vellum {

// An image or buffer before it is made.
struct ObjectDesc {
  Storage kind = Storage::buffer;
  ElementType element = ElementType::f32;  // of images: their texel format
  Extent3 extent;                          // texels; images only
  uint64_t bytes = 0;                      // without padding of the device
};
ObjectDesc object_desc(const TensorDesc& desc);
ObjectDesc object_desc(const planner::Size& size);
planner::Size planner_size(const ObjectDesc& desc);

struct MemoryNeed {
  uint64_t bytes = 0, alignment = 1;
  uint32_t memory_types = UINT32_MAX;  // a bit for each type that will do
};

// All that planning asks of a device.
struct MemoryRules {
  std::function<MemoryNeed(const ObjectDesc&)> need;
  uint64_t buffer_image_granularity = 1;  // what must lie between an image and a buffer
  uint64_t max_allocation_bytes = UINT64_MAX;
};

// From caps alone, without a device.
MemoryRules modelled_rules(const DeviceCaps& caps);
// No padding but of buffers to `alignment`.
MemoryRules tight_rules(uint64_t alignment);

}  // namespace vellum
