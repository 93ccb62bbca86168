#include "vulkan/external/hardware_buffer.hpp"

#include "vulkan/context_impl.hpp"

namespace vellum::gpu {

HardwareBufferProperties hardware_buffer_properties(const Context& context, void* buffer) {
  const vk::raii::Device& device = context.impl().device;
  const auto get = reinterpret_cast<PFN_vkGetAndroidHardwareBufferPropertiesANDROID>(
      device.getProcAddr("vkGetAndroidHardwareBufferPropertiesANDROID"));
  VkAndroidHardwareBufferFormatPropertiesANDROID format{
      VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_FORMAT_PROPERTIES_ANDROID};
  VkAndroidHardwareBufferPropertiesANDROID properties{
      VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID, &format};
  const VkResult result =
      get ? get(*device, static_cast<AHardwareBuffer*>(buffer), &properties) : VK_ERROR_EXTENSION_NOT_PRESENT;
  if (result != VK_SUCCESS)
    throw vk::SystemError(vk::make_error_code(vk::Result(result)),
                          "vkGetAndroidHardwareBufferPropertiesANDROID");
  const ExternalFormat external{format.formatFeatures, format.samplerYcbcrConversionComponents,
                                format.suggestedXChromaOffset, format.suggestedYChromaOffset,
                                format.suggestedYcbcrModel != VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY};
  return {properties.allocationSize, properties.memoryTypeBits, format.format, format.externalFormat,
          external};
}

}  // namespace vellum::gpu
