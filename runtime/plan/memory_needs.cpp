#include "plan/memory_needs.hpp"

#include "program/divide.hpp"

namespace vellum {
namespace {

planner::TexelFormat texel_format(ElementType element) {
  return {static_cast<uint32_t>(element), static_cast<uint32_t>(4 * size_of(element))};
}

MemoryNeed modelled_need(const MemoryTraits& traits, const ObjectDesc& desc) {
  if (desc.kind == Storage::buffer) return {desc.bytes, traits.buffer_alignment, UINT32_MAX};
  const uint64_t columns = round_up(desc.extent.width, traits.block_width);
  const uint64_t row = round_up(columns * 4 * size_of(desc.element), traits.row_alignment);
  const uint64_t rows = round_up(desc.extent.height, traits.block_height) * desc.extent.depth;
  return {round_up(row * rows, traits.image_alignment), traits.image_alignment, UINT32_MAX};
}

}  // namespace

ObjectDesc object_desc(const TensorDesc& desc) {
  if (desc.storage == Storage::buffer) return {Storage::buffer, ElementType::f32, {}, desc.byte_size()};
  return {desc.storage, desc.element, desc.extent(), desc.byte_size()};
}

ObjectDesc object_desc(const planner::Size& size) {
  ObjectDesc desc;
  desc.bytes = planner::byte_size(size);
  if (const auto* image = std::get_if<planner::Texture2D>(&size)) {
    desc.kind = Storage::image2d;
    desc.element = static_cast<ElementType>(image->format.id);
    desc.extent = {image->width, image->height, 1};
  } else if (const auto* volume = std::get_if<planner::Texture3D>(&size)) {
    desc.kind = Storage::image3d;
    desc.element = static_cast<ElementType>(volume->format.id);
    desc.extent = {volume->width, volume->height, volume->depth};
  }
  return desc;
}

planner::Size planner_size(const ObjectDesc& desc) {
  const Extent3& e = desc.extent;
  if (desc.kind == Storage::image2d) return planner::Texture2D{e.width, e.height, texel_format(desc.element)};
  if (desc.kind == Storage::image3d)
    return planner::Texture3D{e.width, e.height, e.depth, texel_format(desc.element)};
  return planner::Bytes{desc.bytes};
}

MemoryRules modelled_rules(const DeviceCaps& caps) {
  return {[traits = caps.memory](const ObjectDesc& desc) { return modelled_need(traits, desc); },
          caps.buffer_image_granularity, caps.max_allocation_bytes};
}

MemoryRules tight_rules(uint64_t alignment) {
  return {[alignment](const ObjectDesc& desc) {
            return MemoryNeed{desc.bytes, desc.kind == Storage::buffer ? alignment : 1, UINT32_MAX};
          },
          1, UINT64_MAX};
}

}  // namespace vellum
