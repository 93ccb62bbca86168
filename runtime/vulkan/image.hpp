// A VkImage of RGBA texels that is created without memory and bound to a planned offset of an arena later.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>

#include "vulkan/delete_when_idle.hpp"
#include "vulkan/memory.hpp"

namespace vellum::gpu {

class Context;

enum class ImageFormat : uint8_t { rgba32f, rgba16f, rgba8ui, rgba32ui };

VkFormat vk_format(ImageFormat format);
uint32_t bytes_per_texel(ImageFormat format);

// An image with optimal tiling. Its usage is storage, sampled, and transfer in both directions.
struct ImageDesc {
  bool is_3d = false;
  uint32_t width = 1, height = 1, depth = 1;  // texels; depth is 1 in 2D
  ImageFormat format = ImageFormat::rgba32f;

  uint64_t byte_size() const;  // bytes of the texels, tightly packed
  bool operator==(const ImageDesc&) const = default;
};

// Returns the memory requirements of an image. With Vulkan 1.3 (maintenance4) no image is created for the
// query. Throws Error(unsupported) if an extent exceeds the device's limit or the format does not support
// storage images.
MemoryRequirements image_requirements(const Context& context, const ImageDesc& desc);

// The image layout is UNDEFINED until the first transition. Kernels use GENERAL for storage and sampled
// access.
class Image {
 public:
  Image(std::shared_ptr<Context> context, const ImageDesc& desc, Sharing sharing = Sharing::compute_only);
  ~Image();
  Image(Image&&) noexcept;
  Image& operator=(Image&&) noexcept;

  const ImageDesc& desc() const;
  VkImage handle() const;
  VkImageView view() const;  // after bind()
  MemoryRequirements requirements() const;
  // Binds memory, once. The image keeps the arena alive. Throws Error(invalid_argument) if it does not fit
  // there.
  void bind(std::shared_ptr<Arena> arena, uint64_t offset);
  const std::shared_ptr<Arena>& arena() const;
  uint64_t arena_offset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

// Creates an image in a new arena.
Image make_image(std::shared_ptr<Context> context, const ImageDesc& desc, MemoryCategory category);

}  // namespace vellum::gpu
