#include "vulkan/image.hpp"

#include <algorithm>
#include <string>

#include "vulkan/binding_check.hpp"
#include "vulkan/context_impl.hpp"

namespace vellum::gpu {
namespace {

std::string text(const ImageDesc& desc) {
  const std::string plane = std::to_string(desc.width) + " x " + std::to_string(desc.height);
  return desc.is_3d ? "3D image of " + plane + " x " + std::to_string(desc.depth) + " texels"
                    : "2D image of " + plane + " texels";
}

void check_limits(const Context::Impl& context, const ImageDesc& desc) {
  const DeviceCaps& caps = context.caps;
  const uint32_t limit = desc.is_3d ? caps.max_image_dimension_3d : caps.max_image_dimension_2d;
  const auto [least, most] = std::minmax({desc.width, desc.height, desc.depth});
  if (least == 0 || (!desc.is_3d && desc.depth != 1))
    throw Error(ErrorCode::invalid_argument, "a " + text(desc) + " and depth " + std::to_string(desc.depth) +
                                                 " was asked for: there is no such image");
  if (most > limit)
    throw Error(ErrorCode::unsupported, "a " + text(desc) + " is past the limit of " + std::to_string(limit) +
                                            " of " + caps.name + "; use buffer storage");
  // Widths above fit 32 bits each; their product may not fit 64 with the bytes of a texel.
  const uint64_t row = uint64_t{desc.width} * bytes_per_texel(desc.format);
  if (row > context.physical.max_image_bytes / desc.height / desc.depth)
    throw Error(ErrorCode::unsupported, "a " + text(desc) + " is larger than " +
                                            std::to_string(context.physical.max_image_bytes) +
                                            " bytes, the limit of " + caps.name + "; use buffer storage");
  // Vulkan requires storage images of rgba8ui.
  const bool has_format = desc.format == ImageFormat::rgba32f   ? caps.rgba32f_images
                          : desc.format == ImageFormat::rgba16f ? caps.rgba16f_images
                                                                : true;
  if (!has_format)
    throw Error(ErrorCode::unsupported, caps.name + " has no storage images of the format " +
                                            vk::to_string(vk::Format(vk_format(desc.format))) +
                                            "; use buffer storage");
}

vk::ImageCreateInfo image_info(const Context::Impl& context, const ImageDesc& desc) {
  check_limits(context, desc);
  using Usage = vk::ImageUsageFlagBits;
  vk::ImageCreateInfo info;
  info.setImageType(desc.is_3d ? vk::ImageType::e3D : vk::ImageType::e2D)
      .setFormat(vk::Format(vk_format(desc.format)))
      .setExtent({desc.width, desc.height, desc.depth})
      .setMipLevels(1)
      .setArrayLayers(1)
      .setTiling(vk::ImageTiling::eOptimal)
      .setUsage(Usage::eStorage | Usage::eSampled | Usage::eTransferSrc | Usage::eTransferDst);
  return info;
}

}  // namespace

VkFormat vk_format(ImageFormat format) {
  switch (format) {
    case ImageFormat::rgba32f:
      return VK_FORMAT_R32G32B32A32_SFLOAT;
    case ImageFormat::rgba16f:
      return VK_FORMAT_R16G16B16A16_SFLOAT;
    case ImageFormat::rgba8ui:
      return VK_FORMAT_R8G8B8A8_UINT;
    case ImageFormat::rgba32ui:
      return VK_FORMAT_R32G32B32A32_UINT;
  }
  return VK_FORMAT_UNDEFINED;
}

uint32_t bytes_per_texel(ImageFormat format) {
  switch (format) {
    case ImageFormat::rgba16f:
      return 8;
    case ImageFormat::rgba8ui:
      return 4;
    default:
      return 16;
  }
}

uint64_t ImageDesc::byte_size() const { return uint64_t{width} * height * depth * bytes_per_texel(format); }

struct Image::Impl {
  std::shared_ptr<Context> context;
  ImageDesc desc;
  std::shared_ptr<Arena> arena;
  uint64_t arena_offset = 0;
  vk::raii::Image handle{nullptr};  // after the memory, so destroyed before it
  vk::raii::ImageView view{nullptr};
};

MemoryRequirements image_requirements(const Context& context, const ImageDesc& desc) {
  const Context::Impl& impl = context.impl();
  const vk::ImageCreateInfo info = image_info(impl, desc);
  return translated("creating a " + text(desc), [&] {
    if (impl.has_maintenance4())
      return plain(impl.device.getImageMemoryRequirements(vk::DeviceImageMemoryRequirements(&info))
                       .memoryRequirements);
    return plain(vk::raii::Image(impl.device, info, impl.allocator()).getMemoryRequirements());
  });
}

Image::Image(std::shared_ptr<Context> context, const ImageDesc& desc, Sharing sharing) : impl_(new Impl) {
  vk::ImageCreateInfo info = image_info(context->impl(), desc);
  const std::vector<uint32_t> families = context->impl().sharing_families(sharing);
  if (!families.empty()) info.setSharingMode(vk::SharingMode::eConcurrent).setQueueFamilyIndices(families);
  impl_->handle = translated("creating a " + text(desc), [&] {
    return vk::raii::Image(context->impl().device, info, context->impl().allocator());
  });
  impl_->context = std::move(context);
  impl_->desc = desc;
}

Image::~Image() = default;
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(Image&&) noexcept = default;

const ImageDesc& Image::desc() const { return impl_->desc; }
VkImage Image::handle() const { return *impl_->handle; }
VkImageView Image::view() const { return *impl_->view; }
MemoryRequirements Image::requirements() const { return plain(impl_->handle.getMemoryRequirements()); }
const std::shared_ptr<Arena>& Image::arena() const { return impl_->arena; }
uint64_t Image::arena_offset() const { return impl_->arena_offset; }

void Image::bind(std::shared_ptr<Arena> arena, uint64_t offset) {
  check_binding("image", requirements(), *arena, offset, impl_->arena != nullptr);
  translated("binding a " + text(impl_->desc) + " to memory", [&] {
    impl_->handle.bindMemory(arena->handle(), arena->begin() + offset);
    impl_->arena = std::move(arena);
    impl_->arena_offset = offset;
    vk::ImageViewCreateInfo info;
    info.setImage(*impl_->handle)
        .setViewType(impl_->desc.is_3d ? vk::ImageViewType::e3D : vk::ImageViewType::e2D)
        .setFormat(vk::Format(vk_format(impl_->desc.format)))
        .setSubresourceRange({vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1});
    impl_->view =
        vk::raii::ImageView(impl_->context->impl().device, info, impl_->context->impl().allocator());
  });
}

Image make_image(std::shared_ptr<Context> context, const ImageDesc& desc, MemoryCategory category) {
  Image image(context, desc);
  const MemoryRequirements needed = image.requirements();
  image.bind(std::make_shared<Arena>(std::move(context), needed.size, needed.memory_type_bits,
                                     MemoryKind::device, category),
             0);
  return image;
}

}  // namespace vellum::gpu
