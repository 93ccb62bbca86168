#include "vulkan/application_image.hpp"

#include <algorithm>
#include <string>

#include "vulkan/context_impl.hpp"

namespace vellum::gpu {
namespace {

[[noreturn]] void refuse(const Context& context, VkFormat format, const std::string& why) {
  throw Error(ErrorCode::unsupported, "an image of the format " + vk::to_string(vk::Format(format)) + " on " +
                                          context.caps().name + ": " + why);
}

bool is_planar(ImageFormatId id) {
  const VkFormat format = id.format;
  return id.external || format == VK_FORMAT_G8_B8R8_2PLANE_420_UNORM ||
         format == VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
}

bool has_bytes(VkFormat format) {
  constexpr VkFormat formats[] = {VK_FORMAT_R8_UNORM,
                                  VK_FORMAT_R8G8_UNORM,
                                  VK_FORMAT_R8G8B8_UNORM,
                                  VK_FORMAT_B8G8R8_UNORM,
                                  VK_FORMAT_R8G8B8A8_UNORM,
                                  VK_FORMAT_B8G8R8A8_UNORM,
                                  VK_FORMAT_A8B8G8R8_UNORM_PACK32};
  return std::ranges::find(formats, format) != std::end(formats);
}

// By the names of the specification: "R8G8B8A8Uint", "D24UnormS8Uint", "G8B8G8R8422Unorm".
bool reads_as_floats(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  return !has("Uint") && !has("Sint") && !name.starts_with("D") && !name.starts_with("X8D24") &&
         !has("420") && !has("422") && !has("444") && !has("Undefined");
}

bool offers(const Context& context, VkFormat format, vk::FormatFeatureFlagBits feature) {
  const vk::FormatProperties properties =
      context.impl().physical.handle.getFormatProperties(vk::Format(format));
  return bool((properties.optimalTilingFeatures | properties.linearTilingFeatures) & feature);
}

struct StorageFormat {
  VkFormat format;
  const char* qualifier;
  bool extended = false;  // needs shaderStorageImageExtendedFormats
};

constexpr StorageFormat kStorageFormats[] = {
    {VK_FORMAT_R8G8B8A8_UNORM, "rgba8"},
    {VK_FORMAT_R16G16B16A16_SFLOAT, "rgba16f"},
    {VK_FORMAT_R32G32B32A32_SFLOAT, "rgba32f"},
    {VK_FORMAT_R32_SFLOAT, "r32f"},
    {VK_FORMAT_R8_UNORM, "r8", true},
    {VK_FORMAT_R8G8_UNORM, "rg8", true},
    {VK_FORMAT_R16_SFLOAT, "r16f", true},
    {VK_FORMAT_R16G16_SFLOAT, "rg16f", true},
    {VK_FORMAT_B8G8R8A8_UNORM, ""},
};

}  // namespace

SampledFormat sampled_format(const Context& context, ImageFormatId id) {
  if (is_planar(id)) {
    context.impl().ycbcr_samplers.get(context.impl(), id);
    return SampledFormat::planes;
  }
  const VkFormat format = id.format;
  if (!reads_as_floats(vk::to_string(vk::Format(format))))
    refuse(context, format, "it has neither colours that read as floats nor Y, U and V in planes of 8 bits");
  if (!offers(context, format, vk::FormatFeatureFlagBits::eSampledImage))
    refuse(context, format, "the device does not sample it");
  return has_bytes(format) ? SampledFormat::bytes : SampledFormat::numbers;
}

const char* storage_qualifier(const Context& context, VkFormat format) {
  const auto found = std::ranges::find(kStorageFormats, format, &StorageFormat::format);
  if (found == std::end(kStorageFormats))
    refuse(context, format, "outputs are not written in it; ImageBinding lists the formats");
  const PhysicalDevice& physical = context.impl().physical;
  if (found->extended && !physical.extended_storage_formats)
    refuse(context, format, "its feature shaderStorageImageExtendedFormats is missing or not enabled");
  if (!*found->qualifier && !physical.writes_without_format)
    refuse(context, format, "its feature shaderStorageImageWriteWithoutFormat is missing or not enabled");
  if (!offers(context, format, vk::FormatFeatureFlagBits::eStorageImage))
    refuse(context, format, "the device does not store it");
  return found->qualifier;
}

std::vector<const char*> storage_qualifiers() {
  std::vector<const char*> qualifiers;
  for (const StorageFormat& format : kStorageFormats) qualifiers.push_back(format.qualifier);
  return qualifiers;
}

struct ApplicationImage::Impl {
  std::shared_ptr<Context> context;
  vk::raii::ImageView view{nullptr};
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
};

ApplicationImage::ApplicationImage(std::shared_ptr<Context> context, const ApplicationImageDesc& desc,
                                   VkImageUsageFlags usage)
    : impl_(new Impl) {
  Context::Impl& device = context->impl();
  vk::ImageViewUsageCreateInfo used{vk::ImageUsageFlags(usage)};
  vk::SamplerYcbcrConversionInfo conversion;
  if (is_planar(desc.format)) {
    conversion.conversion = *device.ycbcr_samplers.get(device, desc.format).conversion;
    used.setPNext(&conversion);
  }
  vk::ImageViewCreateInfo info;
  info.setImage(desc.image)
      .setViewType(vk::ImageViewType::e2D)
      .setFormat(vk::Format(desc.format.format))
      .setSubresourceRange({vk::ImageAspectFlagBits::eColor, desc.mip_level, 1, desc.array_layer, 1})
      .setPNext(&used);
  impl_->view = translated("creating a view of the application's image",
                           [&] { return vk::raii::ImageView(device.device, info, device.allocator()); });
  impl_->layout = desc.layout;
  impl_->context = std::move(context);
}

ApplicationImage::~ApplicationImage() = default;
ApplicationImage::ApplicationImage(ApplicationImage&&) noexcept = default;
ApplicationImage& ApplicationImage::operator=(ApplicationImage&&) noexcept = default;

BoundResource ApplicationImage::resource() const { return {*impl_->view, impl_->layout}; }

}  // namespace vellum::gpu
