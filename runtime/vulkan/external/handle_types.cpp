#include "vulkan/external/handle_types.hpp"

#include <array>
#include <string_view>

#include "vulkan/buffer.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/external/handle_bits.hpp"

namespace vellum {

std::string_view name(ExternalHandleType type) {
  constexpr std::string_view names[] = {"opaque_fd",    "dma_buf",      "sync_fd",
                                        "opaque_win32", "host_pointer", "android_hardware_buffer"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

}  // namespace vellum

namespace vellum::gpu {
namespace {

using MemoryBit = vk::ExternalMemoryHandleTypeFlagBits;
using MemoryFeature = vk::ExternalMemoryFeatureFlagBits;
using SemaphoreBit = vk::ExternalSemaphoreHandleTypeFlagBits;
using SemaphoreFeature = vk::ExternalSemaphoreFeatureFlagBits;
using Type = ExternalHandleType;

constexpr std::array kTypes{Type::opaque_fd,    Type::dma_buf,      Type::sync_fd,
                            Type::opaque_win32, Type::host_pointer, Type::android_hardware_buffer};

struct Extension {
  const char* name = nullptr;  // null: there is no such handle
  bool enabled = false;
};

Extension memory_extension(const ExternalExtensions& enabled, Type type) {
  switch (type) {
    case Type::opaque_fd:
      return {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, enabled.memory_fd};
    case Type::dma_buf:
      return {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, enabled.dma_buf};
    case Type::opaque_win32:
      return {kMemoryWin32, enabled.memory_win32};
    case Type::host_pointer:
      return {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, enabled.host_pointer};
    case Type::android_hardware_buffer:
      return {kHardwareBuffer, enabled.hardware_buffer};
    case Type::sync_fd:
      break;
  }
  return {};
}

Extension semaphore_extension(const ExternalExtensions& enabled, Type type) {
  if (type == Type::opaque_fd || type == Type::sync_fd)
    return {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, enabled.semaphore_fd};
  if (type == Type::opaque_win32) return {kSemaphoreWin32, enabled.semaphore_win32};
  return {};
}

void require_extension(const Context& context, ExternalUse use, const char* what, Type type,
                       const Extension& extension) {
  if (!extension.name) refuse_external(context, use, what, type, "there are no such handles of it");
  if (!extension.enabled)
    refuse_external(context, use, what, type,
                    std::string("its extension ") + extension.name + " is missing or not enabled");
}

vk::ExternalMemoryFeatureFlags buffer_features(const Context& context, Type type, VkBufferUsageFlags usage) {
  const vk::PhysicalDeviceExternalBufferInfo info({}, vk::BufferUsageFlags(usage), memory_type_bit(type));
  return context.impl()
      .physical.handle.getExternalBufferProperties(info)
      .externalMemoryProperties.externalMemoryFeatures;
}

vk::ExternalSemaphoreFeatureFlags semaphore_features(const Context& context, Type type, bool is_timeline) {
  const vk::SemaphoreTypeCreateInfo kind(vk::SemaphoreType::eTimeline, 0);
  vk::PhysicalDeviceExternalSemaphoreInfo info(semaphore_type_bit(type));
  if (is_timeline) info.setPNext(&kind);
  return context.impl().physical.handle.getExternalSemaphoreProperties(info).externalSemaphoreFeatures;
}

// Whether the driver does it at all, and then only for memory of one resource.
bool require_feature(const Context& context, ExternalUse use, const char* what, Type type,
                     vk::ExternalMemoryFeatureFlags features) {
  if (!(features &
        (use == ExternalUse::import_handle ? MemoryFeature::eImportable : MemoryFeature::eExportable)))
    refuse_external(context, use, what, type, "the driver does not");
  return bool(features & MemoryFeature::eDedicatedOnly);
}

}  // namespace

MemoryBit memory_type_bit(Type type) {
  switch (type) {
    case Type::dma_buf:
      return MemoryBit::eDmaBufEXT;
    case Type::opaque_win32:
      return MemoryBit::eOpaqueWin32;
    case Type::host_pointer:
      return MemoryBit::eHostAllocationEXT;
    case Type::android_hardware_buffer:
      return static_cast<MemoryBit>(VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID);
    default:
      return MemoryBit::eOpaqueFd;
  }
}

SemaphoreBit semaphore_type_bit(Type type) {
  if (type == Type::sync_fd) return SemaphoreBit::eSyncFd;
  return type == Type::opaque_win32 ? SemaphoreBit::eOpaqueWin32 : SemaphoreBit::eOpaqueFd;
}

void refuse_external(const Context& context, ExternalUse use, const char* what, Type type,
                     const std::string& why) {
  throw Error(ErrorCode::unsupported,
              context.caps().name + (use == ExternalUse::import_handle ? " imports no " : " exports no ") +
                  what + " as " + std::string(name(type)) + ": " + why);
}

bool require_buffer(const Context& context, ExternalUse use, Type type, VkBufferUsageFlags usage) {
  constexpr const char* what = "buffers";
  require_extension(context, use, what, type,
                    memory_extension(context.impl().physical.external_extensions, type));
  return require_feature(context, use, what, type, buffer_features(context, type, usage));
}

bool require_image(const Context& context, ExternalUse use, Type type, const VkImageCreateInfo& info) {
  const std::string what = "images of the format " + vk::to_string(vk::Format(info.format));
  require_extension(context, use, what.c_str(), type,
                    memory_extension(context.impl().physical.external_extensions, type));
  const vk::PhysicalDeviceExternalImageFormatInfo external(memory_type_bit(type));
  vk::PhysicalDeviceImageFormatInfo2 wanted(vk::Format(info.format), vk::ImageType(info.imageType),
                                            vk::ImageTiling(info.tiling), vk::ImageUsageFlags(info.usage),
                                            vk::ImageCreateFlags(info.flags));
  vk::ExternalMemoryFeatureFlags features;
  try {
    using Properties = vk::ExternalImageFormatProperties;
    features =
        context.impl()
            .physical.handle
            .getImageFormatProperties2<vk::ImageFormatProperties2, Properties>(wanted.setPNext(&external))
            .get<Properties>()
            .externalMemoryProperties.externalMemoryFeatures;
  } catch (const vk::FormatNotSupportedError&) {
    refuse_external(context, use, what.c_str(), type, "the driver has none of this usage and tiling");
  }
  return require_feature(context, use, what.c_str(), type, features);
}

void require_hardware_buffers(const Context& context) {
  constexpr Type type = Type::android_hardware_buffer;
  require_extension(context, ExternalUse::import_handle, "frames", type,
                    memory_extension(context.impl().physical.external_extensions, type));
}

void require_semaphore(const Context& context, ExternalUse use, Type type, bool is_timeline) {
  const char* const what = is_timeline ? "timeline semaphores" : "semaphores";
  const PhysicalDevice& physical = context.impl().physical;
  require_extension(context, use, what, type, semaphore_extension(physical.external_extensions, type));
  if (is_timeline && !physical.timeline_semaphores)
    refuse_external(context, use, what, type, "its feature timelineSemaphore is missing or not enabled");
  const vk::ExternalSemaphoreFeatureFlags features = semaphore_features(context, type, is_timeline);
  if (!(features &
        (use == ExternalUse::import_handle ? SemaphoreFeature::eImportable : SemaphoreFeature::eExportable)))
    refuse_external(context, use, what, type, "the driver does not");
}

std::vector<ExternalSupport> list_external_support(const Context& context) {
  const PhysicalDevice& physical = context.impl().physical;
  std::vector<ExternalSupport> all;
  for (const Type type : kTypes) {
    ExternalSupport found{type};
    if (memory_extension(physical.external_extensions, type).enabled) {
      const vk::ExternalMemoryFeatureFlags features = buffer_features(context, type, kStorageBuffer);
      found.imports_buffers = bool(features & MemoryFeature::eImportable);
      found.exports_buffers = bool(features & MemoryFeature::eExportable);
    }
    if (semaphore_extension(physical.external_extensions, type).enabled) {
      vk::ExternalSemaphoreFeatureFlags features = semaphore_features(context, type, false);
      found.imports_semaphores = bool(features & SemaphoreFeature::eImportable);
      found.exports_semaphores = bool(features & SemaphoreFeature::eExportable);
      if (physical.timeline_semaphores) {
        features = semaphore_features(context, type, true);
        found.imports_timelines = bool(features & SemaphoreFeature::eImportable);
        found.exports_timelines = bool(features & SemaphoreFeature::eExportable);
      }
    }
    if (found.imports_buffers || found.exports_buffers || found.imports_semaphores ||
        found.exports_semaphores || found.imports_timelines || found.exports_timelines)
      all.push_back(found);
  }
  return all;
}

}  // namespace vellum::gpu
