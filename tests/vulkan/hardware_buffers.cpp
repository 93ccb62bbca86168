#include "vulkan/hardware_buffers.hpp"

#include <vulkan/vulkan_android.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <vector>

#include "platform/dynamic_library.hpp"
#include "vulkan/loader.hpp"

namespace vellum::test {
namespace {

constexpr std::array<std::string_view, 2> kOffered{
    VK_ANDROID_EXTERNAL_MEMORY_ANDROID_HARDWARE_BUFFER_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME};
// That images in an external format have in truth.
constexpr VkFormat kStandsIn = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
constexpr auto kType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID;

struct HardwareState {
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  PFN_vkCmdPipelineBarrier barrier = nullptr;
  std::atomic<size_t> foreign_transfers = 0;
  std::mutex mutex;
  std::map<VkDeviceMemory, FakeHardwareBuffer*> imports;
};

HardwareState& hardware() {
  static HardwareState the_state;
  return the_state;
}

template <typename Function>
Function real_of_instance(const char* name) {
  return reinterpret_cast<Function>(hardware().instance_function(hardware().instance, name));
}

template <typename Function>
Function real_of_device(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(hardware().device_function(device, name));
}

template <typename Structure>
const Structure* find_in_chain(const void* chain, VkStructureType type) {
  for (auto* link = static_cast<const VkBaseInStructure*>(chain); link; link = link->pNext)
    if (link->sType == type) return reinterpret_cast<const Structure*>(link);
  return nullptr;
}

bool is_offered(std::string_view extension) { return extension == kOffered[0] || extension == kOffered[1]; }

VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                                 VkExtensionProperties* extensions) {
  const auto real =
      real_of_instance<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
  uint32_t real_count = 0;
  real(device, layer, &real_count, nullptr);
  if (extensions) {
    real(device, layer, &real_count, extensions);
    for (const std::string_view name : kOffered) {
      extensions[real_count] = {};
      name.copy(extensions[real_count++].extensionName, name.size());
    }
    *count = real_count;
  } else {
    *count = real_count + static_cast<uint32_t>(kOffered.size());
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  std::vector<const char*> extensions;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (!is_offered(info->ppEnabledExtensionNames[i])) extensions.push_back(info->ppEnabledExtensionNames[i]);
  VkDeviceCreateInfo real = *info;
  real.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  real.ppEnabledExtensionNames = extensions.data();
  return real_of_instance<PFN_vkCreateDevice>("vkCreateDevice")(physical, &real, callbacks, device);
}

void offer_import(VkExternalMemoryProperties& properties) {
  properties = {VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT, 0,
                kType};
}

VKAPI_ATTR void VKAPI_CALL buffer_properties(VkPhysicalDevice device,
                                             const VkPhysicalDeviceExternalBufferInfo* info,
                                             VkExternalBufferProperties* properties) {
  if (info->handleType == kType) return offer_import(properties->externalMemoryProperties);
  real_of_instance<PFN_vkGetPhysicalDeviceExternalBufferProperties>(
      "vkGetPhysicalDeviceExternalBufferProperties")(device, info, properties);
}

VKAPI_ATTR VkResult VKAPI_CALL image_properties(VkPhysicalDevice device,
                                                const VkPhysicalDeviceImageFormatInfo2* info,
                                                VkImageFormatProperties2* properties) {
  const auto real = real_of_instance<PFN_vkGetPhysicalDeviceImageFormatProperties2>(
      "vkGetPhysicalDeviceImageFormatProperties2");
  const auto* external = find_in_chain<VkPhysicalDeviceExternalImageFormatInfo>(
      info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
  if (!external || external->handleType != kType) return real(device, info, properties);
  VkPhysicalDeviceImageFormatInfo2 plain = *info;
  plain.pNext = nullptr;
  VkImageFormatProperties2 found{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, nullptr, {}};
  const VkResult result = real(device, &plain, &found);
  properties->imageFormatProperties = found.imageFormatProperties;
  const auto* answer = find_in_chain<VkExternalImageFormatProperties>(
      properties->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES);
  if (answer) offer_import(const_cast<VkExternalImageFormatProperties*>(answer)->externalMemoryProperties);
  return result;
}

bool has_external_format(const void* chain) {
  const auto* format =
      find_in_chain<VkExternalFormatANDROID>(chain, VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID);
  return format && format->externalFormat;
}

VKAPI_ATTR VkResult VKAPI_CALL create_conversion(VkDevice device,
                                                 const VkSamplerYcbcrConversionCreateInfo* info,
                                                 const VkAllocationCallbacks* callbacks,
                                                 VkSamplerYcbcrConversion* conversion) {
  VkSamplerYcbcrConversionCreateInfo plain = *info;
  if (has_external_format(info->pNext)) {
    plain.pNext = nullptr;
    plain.format = kStandsIn;
  }
  return real_of_device<PFN_vkCreateSamplerYcbcrConversion>(device, "vkCreateSamplerYcbcrConversion")(
      device, &plain, callbacks, conversion);
}

VKAPI_ATTR VkResult VKAPI_CALL create_view(VkDevice device, const VkImageViewCreateInfo* info,
                                           const VkAllocationCallbacks* callbacks, VkImageView* view) {
  VkImageViewCreateInfo plain = *info;
  if (plain.format == VK_FORMAT_UNDEFINED) plain.format = kStandsIn;
  return real_of_device<PFN_vkCreateImageView>(device, "vkCreateImageView")(device, &plain, callbacks, view);
}

// The driver makes a plain image or buffer.
template <typename Info, typename Object>
VkResult create_plain(VkDevice device, const char* function, const Info* info, VkStructureType external,
                      const VkAllocationCallbacks* callbacks, Object* object) {
  Info plain = *info;
  if (const auto* chained = find_in_chain<VkExternalMemoryImageCreateInfo>(info->pNext, external);
      chained && chained->handleTypes == kType) {
    plain.pNext = nullptr;
    if constexpr (std::is_same_v<Info, VkImageCreateInfo>) {
      if (has_external_format(info->pNext)) plain.format = kStandsIn;
      plain.usage |= VK_IMAGE_USAGE_TRANSFER_DST_BIT;  // for FakeHardwareBuffer::fill
    }
  }
  using Function = VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Object*);
  return real_of_device<Function>(device, function)(device, &plain, callbacks, object);
}

VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkImage* image) {
  return create_plain(device, "vkCreateImage", info, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                      callbacks, image);
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
  return create_plain(device, "vkCreateBuffer", info, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                      callbacks, buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL buffer_handle_properties(
    VkDevice, const AHardwareBuffer* buffer, VkAndroidHardwareBufferPropertiesANDROID* properties) {
  const auto* fake = reinterpret_cast<const FakeHardwareBuffer*>(buffer);
  if (fake->bytes == 0) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  properties->allocationSize = fake->bytes;
  properties->memoryTypeBits = 1;
  const auto* format = find_in_chain<VkAndroidHardwareBufferFormatPropertiesANDROID>(
      properties->pNext, VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_FORMAT_PROPERTIES_ANDROID);
  if (!format) return VK_SUCCESS;
  auto& description = *const_cast<VkAndroidHardwareBufferFormatPropertiesANDROID*>(format);
  description.format = fake->format;
  description.externalFormat = fake->external_format;
  if (!fake->external_format) return VK_SUCCESS;
  description.formatFeatures =
      VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_COSITED_CHROMA_SAMPLES_BIT;
  description.suggestedYcbcrModel = fake->has_colors ? VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY
                                                     : VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601;
  description.suggestedXChromaOffset = description.suggestedYChromaOffset = VK_CHROMA_LOCATION_COSITED_EVEN;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  const auto real = real_of_device<PFN_vkAllocateMemory>(device, "vkAllocateMemory");
  const auto* imported = find_in_chain<VkImportAndroidHardwareBufferInfoANDROID>(
      info->pNext, VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID);
  if (!imported) return real(device, info, callbacks, memory);
  auto* fake = reinterpret_cast<FakeHardwareBuffer*>(imported->buffer);
  VkMemoryAllocateInfo plain = *info;
  plain.pNext = nullptr;
  const VkResult result = real(device, &plain, callbacks, memory);
  if (result != VK_SUCCESS) return result;
  void* data = nullptr;
  real_of_device<PFN_vkMapMemory>(device, "vkMapMemory")(device, *memory, 0, VK_WHOLE_SIZE, 0, &data);
  const std::lock_guard lock(hardware().mutex);
  fake->data = static_cast<std::byte*>(data);
  const auto* dedicated = find_in_chain<VkMemoryDedicatedAllocateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
  fake->was_dedicated = dedicated;
  fake->image = dedicated ? dedicated->image : VK_NULL_HANDLE;
  ++fake->imports;
  ++fake->imported;
  hardware().imports[*memory] = fake;
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  {
    const std::lock_guard lock(hardware().mutex);
    if (const auto found = hardware().imports.find(memory); found != hardware().imports.end()) {
      --found->second->imports;
      hardware().imports.erase(found);
    }
  }
  real_of_device<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL bind_image(VkDevice device, VkImage image, VkDeviceMemory memory,
                                          VkDeviceSize offset) {
  const VkResult result =
      real_of_device<PFN_vkBindImageMemory>(device, "vkBindImageMemory")(device, image, memory, offset);
  FakeHardwareBuffer* fake = nullptr;
  {
    const std::lock_guard lock(hardware().mutex);
    const auto found = hardware().imports.find(memory);
    if (found != hardware().imports.end()) fake = found->second;
  }
  if (fake && fake->fill) fake->fill(image);
  return result;
}

// VK_QUEUE_FAMILY_FOREIGN_EXT is unknown to a driver without the extension.
VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                   VkPipelineStageFlags after, VkDependencyFlags flags, uint32_t memory_count,
                                   const VkMemoryBarrier* memory, uint32_t buffer_count,
                                   const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                                   const VkImageMemoryBarrier* images) {
  std::vector<VkImageMemoryBarrier> known(images, images + image_count);
  for (VkImageMemoryBarrier& image : known)
    for (uint32_t* family : {&image.srcQueueFamilyIndex, &image.dstQueueFamilyIndex})
      if (*family == VK_QUEUE_FAMILY_FOREIGN_EXT) {
        *family = VK_QUEUE_FAMILY_EXTERNAL;
        hardware().foreign_transfers++;
      }
  hardware().barrier(commands, before, after, flags, memory_count, memory, buffer_count, buffers, image_count,
                     known.data());
}

struct Replacement {
  std::string_view name;
  PFN_vkVoidFunction function;
};

template <typename Function>
Replacement replacement(std::string_view name, Function* function) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  for (const Replacement& known :
       {replacement("vkGetDeviceProcAddr", get_device_function), replacement("vkCreateImage", create_image),
        replacement("vkCreateBuffer", create_buffer), replacement("vkAllocateMemory", allocate),
        replacement("vkCreateSamplerYcbcrConversion", create_conversion),
        replacement("vkCreateImageView", create_view), replacement("vkBindImageMemory", bind_image),
        replacement("vkCmdPipelineBarrier", barrier), replacement("vkFreeMemory", free_memory),
        replacement("vkGetAndroidHardwareBufferPropertiesANDROID", buffer_handle_properties)})
    if (known.name == name) {
      if (known.name == "vkCmdPipelineBarrier")
        hardware().barrier = real_of_device<PFN_vkCmdPipelineBarrier>(device, "vkCmdPipelineBarrier");
      return known.function;
    }
  return hardware().device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  if (instance) hardware().instance = instance;
  const PFN_vkVoidFunction found = hardware().instance_function(instance, name);
  if (std::string_view(name) == "vkGetDeviceProcAddr") {
    hardware().device_function = reinterpret_cast<PFN_vkGetDeviceProcAddr>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  }
  for (const Replacement& known :
       {replacement("vkGetInstanceProcAddr", get_instance_function),
        replacement("vkCreateDevice", create_device),
        replacement("vkEnumerateDeviceExtensionProperties", device_extensions),
        replacement("vkGetPhysicalDeviceExternalBufferProperties", buffer_properties),
        replacement("vkGetPhysicalDeviceImageFormatProperties2", image_properties)})
    if (known.name == name) return known.function;
  return found;
}

}  // namespace

HardwareBuffers::HardwareBuffers() {
  hardware().loader = open_vulkan_loader();
  hardware().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(hardware().loader.symbol("vkGetInstanceProcAddr"));
}

HardwareBuffers::~HardwareBuffers() {
  hardware().imports.clear();
  hardware().loader = {};
}

size_t HardwareBuffers::foreign_transfers() const { return hardware().foreign_transfers; }

PFN_vkGetInstanceProcAddr HardwareBuffers::get_instance_proc_addr() const { return get_instance_function; }

}  // namespace vellum::test
