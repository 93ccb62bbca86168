// A VkImage of RGBA texels, made unbound, and bound to planned memory later.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>

#include "vulkan/memory.hpp"

namespace vellum::gpu {

class Context;

enum class ImageFormat : uint8_t { rgba32f, rgba16f };

VkFormat vk_format(ImageFormat format);
uint32_t bytes_per_texel(ImageFormat format);

// Usage: storage, sampled and transfer in both directions; optimal tiling.
struct ImageDesc {
  bool is_3d = false;
  uint32_t width = 1, height = 1, depth = 1;  // texels; depth is 1 in 2D
  ImageFormat format = ImageFormat::rgba32f;

  uint64_t byte_size() const;  // of the texels, tightly packed
  bool operator==(const ImageDesc&) const = default;
};

// What an image would ask for; without making one where Vulkan 1.3 (maintenance4) is there.
// Error(unsupported) if an extent is past the device's limit or the format has no storage images.
MemoryRequirements image_requirements(const Context& context, const ImageDesc& desc);

// Layout: UNDEFINED until the first transition; every kernel wants GENERAL, for storage and sampled access
// alike.
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
  // Once. The image keeps the arena alive. Error(invalid_argument) if it does not fit there.
  void bind(std::shared_ptr<Arena> arena, uint64_t offset);
  const std::shared_ptr<Arena>& arena() const;
  uint64_t arena_offset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An image with an arena of its own.
Image make_image(std::shared_ptr<Context> context, const ImageDesc& desc, MemoryCategory category);

}  // namespace vellum::gpu
