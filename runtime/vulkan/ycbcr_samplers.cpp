#include "vulkan/ycbcr_samplers.hpp"

#include <string>

#include "vulkan/context_impl.hpp"

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

YcbcrSampler make_sampler(const Context::Impl& context, vk::Format format) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::unsupported,
                context.caps.name + " reads no images of the format " + vk::to_string(format) + ": " + why);
  };
  if (!context.physical.ycbcr) refuse("its feature samplerYcbcrConversion is missing or not enabled");
  const vk::FormatFeatureFlags features =
      context.physical.handle.getFormatProperties(format).optimalTilingFeatures;
  constexpr auto located =
      vk::FormatFeatureFlagBits::eMidpointChromaSamples | vk::FormatFeatureFlagBits::eCositedChromaSamples;
  if (!(features & vk::FormatFeatureFlagBits::eSampledImage) || !(features & located))
    refuse("the driver does not sample it");
  YcbcrSampler made;
  made.conversion = {context.device, conversion_info(format, features), context.allocator()};
  const vk::SamplerYcbcrConversionInfo conversion(*made.conversion);
  vk::SamplerCreateInfo info;
  info.setAddressModeU(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeV(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeW(vk::SamplerAddressMode::eClampToEdge)
      .setPNext(&conversion);
  made.sampler = {context.device, info, context.allocator()};
  made.descriptors = descriptors_of(context.physical.handle, format);
  return made;
}

}  // namespace

const YcbcrSampler& YcbcrSamplers::get(const Context::Impl& context, VkFormat format) {
  const std::lock_guard lock(mutex_);
  const auto found = samplers_.find(format);
  if (found != samplers_.end()) return found->second;
  return translated("creating a sampler", [&]() -> const YcbcrSampler& {
    return samplers_.emplace(format, make_sampler(context, vk::Format(format))).first->second;
  });
}

}  // namespace vellum::gpu
