#include "vulkan/ycbcr_samplers.hpp"

#include <string>
#include <utility>

#include "vulkan/context_impl.hpp"
#include "vulkan/external/hardware_buffer.hpp"

namespace vellum::gpu {
namespace {

vk::SamplerYcbcrConversionCreateInfo conversion_info(vk::Format format, vk::FormatFeatureFlags features) {
  const vk::ChromaLocation location = features & vk::FormatFeatureFlagBits::eMidpointChromaSamples
                                          ? vk::ChromaLocation::eMidpoint
                                          : vk::ChromaLocation::eCositedEven;
  vk::SamplerYcbcrConversionCreateInfo info;
  info.setFormat(format)
      .setYcbcrModel(vk::SamplerYcbcrModelConversion::eRgbIdentity)
      .setYcbcrRange(vk::SamplerYcbcrRange::eItuFull)
      .setXChromaOffset(location)
      .setYChromaOffset(location)
      .setChromaFilter(vk::Filter::eNearest);
  return info;
}

uint32_t descriptors_of(const vk::raii::PhysicalDevice& device, vk::Format format) {
  const vk::PhysicalDeviceImageFormatInfo2 info(format, vk::ImageType::e2D, vk::ImageTiling::eOptimal,
                                                vk::ImageUsageFlagBits::eSampled);
  using Properties = vk::SamplerYcbcrConversionImageFormatProperties;
  return device.getImageFormatProperties2<vk::ImageFormatProperties2, Properties>(info)
      .get<Properties>()
      .combinedImageSamplerDescriptorCount;
}

[[noreturn]] void refuse(const Context::Impl& context, const std::string& format, const std::string& why) {
  throw Error(ErrorCode::unsupported,
              context.caps.name + " reads no images of the format " + format + ": " + why);
}

YcbcrSampler make_sampler(const Context::Impl& context,
                          const vk::SamplerYcbcrConversionCreateInfo& conversion) {
  YcbcrSampler made;
  made.conversion = {context.device, conversion, context.allocator()};
  const vk::SamplerYcbcrConversionInfo converted(*made.conversion);
  vk::SamplerCreateInfo info;
  info.setAddressModeU(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeV(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeW(vk::SamplerAddressMode::eClampToEdge)
      .setPNext(&converted);
  made.sampler = {context.device, info, context.allocator()};
  return made;
}

YcbcrSampler make_sampler(const Context::Impl& context, vk::Format format) {
  if (!context.physical.ycbcr)
    refuse(context, vk::to_string(format), "its feature samplerYcbcrConversion is missing or not enabled");
  const vk::FormatFeatureFlags features =
      context.physical.handle.getFormatProperties(format).optimalTilingFeatures;
  constexpr auto located =
      vk::FormatFeatureFlagBits::eMidpointChromaSamples | vk::FormatFeatureFlagBits::eCositedChromaSamples;
  if (!(features & vk::FormatFeatureFlagBits::eSampledImage) || !(features & located))
    refuse(context, vk::to_string(format), "the driver does not sample it");
  YcbcrSampler made = make_sampler(context, conversion_info(format, features));
  made.descriptors = descriptors_of(context.physical.handle, format);
  return made;
}

// Vulkan does not report how many descriptors an external format takes; no format has more planes than three.
constexpr uint32_t kMostDescriptors = 3;

YcbcrSampler make_sampler(const Context::Impl& context, uint64_t external, const ExternalFormat& described) {
  const std::string name = "of the driver's own, " + std::to_string(external);
  if (!described.has_chroma) refuse(context, name, "it does not hold Y, U and V");
  if (!context.physical.ycbcr)
    refuse(context, name, "its feature samplerYcbcrConversion is missing or not enabled");
  if (!(described.features & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT))
    refuse(context, name, "the driver does not sample it");
  VkExternalFormatANDROID format{VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID, nullptr, external};
  vk::SamplerYcbcrConversionCreateInfo info;
  info.setFormat(vk::Format::eUndefined)
      .setYcbcrModel(vk::SamplerYcbcrModelConversion::eRgbIdentity)
      .setYcbcrRange(vk::SamplerYcbcrRange::eItuFull)
      .setComponents(vk::ComponentMapping(described.components))
      .setXChromaOffset(vk::ChromaLocation(described.x_chroma))
      .setYChromaOffset(vk::ChromaLocation(described.y_chroma))
      .setChromaFilter(vk::Filter::eNearest)
      .setPNext(&format);
  YcbcrSampler made = make_sampler(context, info);
  made.descriptors = kMostDescriptors;
  return made;
}

}  // namespace

void YcbcrSamplers::add(uint64_t external_format, const ExternalFormat& description) {
  const std::lock_guard lock(mutex_);
  external_formats_.emplace(external_format, description);
}

const YcbcrSampler& YcbcrSamplers::get(const Context::Impl& context, ImageFormatId format) {
  const std::lock_guard lock(mutex_);
  const auto found = samplers_.find(format);
  if (found != samplers_.end()) return found->second;
  const auto external = external_formats_.find(format.external);
  if (format.external && external == external_formats_.end())
    throw Error(ErrorCode::invalid_argument,
                "no image was imported with the external format " + std::to_string(format.external));
  return translated("creating a sampler", [&]() -> const YcbcrSampler& {
    YcbcrSampler made = format.external ? make_sampler(context, format.external, external->second)
                                        : make_sampler(context, vk::Format(format.format));
    return samplers_.emplace(format, std::move(made)).first->second;
  });
}

}  // namespace vellum::gpu
