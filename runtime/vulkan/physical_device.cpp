#include "vulkan/physical_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "caps/driver_quirks.hpp"
#include "cost/device_traits.hpp"
#include "vellum/device_id.hpp"
#include "vellum/error.hpp"
#include "vulkan/cooperative_matrices.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum::gpu {
namespace {

DeviceType device_type(vk::PhysicalDeviceType type) {
  switch (type) {
    case vk::PhysicalDeviceType::eIntegratedGpu:
      return DeviceType::integrated_gpu;
    case vk::PhysicalDeviceType::eDiscreteGpu:
      return DeviceType::discrete_gpu;
    case vk::PhysicalDeviceType::eVirtualGpu:
      return DeviceType::virtual_gpu;
    case vk::PhysicalDeviceType::eCpu:
      return DeviceType::cpu;
    default:
      return DeviceType::other;
  }
}

// Returns a family that computes, preferably one without graphics, because it does not wait for rendering.
std::optional<uint32_t> find_compute_family(const std::vector<vk::QueueFamilyProperties>& families) {
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (!(families[i].queueFlags & vk::QueueFlagBits::eCompute)) continue;
    if (!(families[i].queueFlags & vk::QueueFlagBits::eGraphics)) return i;
    if (!found) found = i;
  }
  return found;
}

// Returns the family of a copy engine, whose copies overlap with compute work. It must be able to copy parts
// of images.
std::optional<uint32_t> find_transfer_family(const std::vector<vk::QueueFamilyProperties>& families) {
  using Queue = vk::QueueFlagBits;
  const vk::QueueFlags most = Queue::eTransfer | Queue::eSparseBinding;
  for (uint32_t i = 0; i < families.size(); ++i) {
    const vk::QueueFlags flags = families[i].queueFlags;
    const bool any_extent = families[i].minImageTransferGranularity == vk::Extent3D(1, 1, 1);
    if ((flags & Queue::eTransfer) && !(flags & ~most) && any_extent) return i;
  }
  return std::nullopt;
}

void fill_identity(DeviceCaps& caps, const vk::PhysicalDeviceProperties& properties) {
  caps.name = properties.deviceName.data();
  caps.type = device_type(properties.deviceType);
  caps.vendor_id = properties.vendorID;
  caps.device_id = properties.deviceID;
  caps.driver_version = properties.driverVersion;
  std::ranges::copy(properties.pipelineCacheUUID, caps.pipeline_cache_uuid.begin());
}

// Limits apply per stage and per set; Vellum uses one set and one stage, so both apply.
void fill_limits(DeviceCaps& caps, const vk::PhysicalDeviceLimits& limits) {
  caps.max_image_dimension_2d = limits.maxImageDimension2D;
  caps.max_image_dimension_3d = limits.maxImageDimension3D;
  caps.max_image_array_layers = limits.maxImageArrayLayers;
  caps.max_storage_images_per_stage =
      std::min(limits.maxPerStageDescriptorStorageImages, limits.maxDescriptorSetStorageImages);
  caps.max_storage_buffers_per_stage =
      std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
  // Combined image samplers count as both.
  caps.max_sampled_images_per_stage =
      std::min({limits.maxPerStageDescriptorSampledImages, limits.maxDescriptorSetSampledImages,
                limits.maxPerStageDescriptorSamplers, limits.maxDescriptorSetSamplers});
  caps.max_push_constant_bytes = limits.maxPushConstantsSize;
  caps.max_storage_buffer_range = limits.maxStorageBufferRange;
  caps.max_workgroup_invocations = limits.maxComputeWorkGroupInvocations;
  caps.max_workgroup_size = limits.maxComputeWorkGroupSize;
  caps.max_workgroup_count = limits.maxComputeWorkGroupCount;
  caps.max_shared_memory_bytes = limits.maxComputeSharedMemorySize;
  caps.max_texel_buffer_elements = limits.maxTexelBufferElements;
  caps.min_storage_buffer_offset_alignment = limits.minStorageBufferOffsetAlignment;
  caps.min_texel_buffer_offset_alignment = limits.minTexelBufferOffsetAlignment;
  caps.non_coherent_atom_size = limits.nonCoherentAtomSize;
  caps.buffer_image_granularity = limits.bufferImageGranularity;
  caps.max_allocation_count = limits.maxMemoryAllocationCount;
}

std::string driver_name(const vk::raii::PhysicalDevice& device, bool has_driver_properties,
                        uint32_t version) {
  if (!has_driver_properties) return "version " + std::to_string(version);
  const auto chain =
      device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceDriverProperties>();
  const auto& driver = chain.get<vk::PhysicalDeviceDriverProperties>();
  return std::string(driver.driverName.data()) + " " + driver.driverInfo.data();
}

void fill_features(DeviceCaps& caps, const vk::raii::PhysicalDevice& device, const DeviceSupport& support) {
  const bool knows_float16 =
      caps.api_version >= VK_API_VERSION_1_2 || support.has(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  caps.fp16_buffer_storage = support.has(kStorageBuffer16Bit);
  caps.fp16_arithmetic = knows_float16 && support.has(kShaderFloat16);
  const auto properties =
      device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceSubgroupProperties,
                            vk::PhysicalDeviceMaintenance3Properties>();
  const auto& subgroup = properties.get<vk::PhysicalDeviceSubgroupProperties>();
  caps.subgroup_size = subgroup.subgroupSize;
  const auto in_compute = [&](vk::SubgroupFeatureFlagBits operations) {
    return (subgroup.supportedStages & vk::ShaderStageFlagBits::eCompute) &&
           (subgroup.supportedOperations & operations);
  };
  caps.subgroup_arithmetic = in_compute(vk::SubgroupFeatureFlagBits::eArithmetic);
  caps.subgroup_broadcast = in_compute(vk::SubgroupFeatureFlagBits::eBallot);
  caps.max_allocation_bytes =
      properties.get<vk::PhysicalDeviceMaintenance3Properties>().maxMemoryAllocationSize;
  caps.memory_budget = support.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
}

// SPIR-V for Vulkan 1.1 takes the instructions from an extension, which Vulkan has as core since 1.3.
void fill_dot_products(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                       const DeviceSupport& support) {
  const bool known =
      caps.api_version >= VK_API_VERSION_1_3 || support.has(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  if (!known || !support.has(kIntegerDotProduct)) return;
  using Properties = vk::PhysicalDeviceShaderIntegerDotProductProperties;
  const auto properties =
      device.getProperties2<vk::PhysicalDeviceProperties2, Properties>().get<Properties>();
  caps.integer_dot_products = true;
  caps.accelerates_signed_dot_products = properties.integerDotProduct4x8BitPackedSignedAccelerated;
  caps.accelerates_mixed_dot_products = properties.integerDotProduct4x8BitPackedMixedSignednessAccelerated;
}

bool can_preserve_inf_nan(const vk::raii::PhysicalDevice& device, const DeviceSupport& support,
                          uint32_t api_version) {
  if (api_version < VK_API_VERSION_1_2 && !support.has(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME))
    return false;
  using Controls = vk::PhysicalDeviceFloatControlsProperties;
  return device.getProperties2<vk::PhysicalDeviceProperties2, Controls>()
      .get<Controls>()
      .shaderSignedZeroInfNanPreserveFloat32;
}

// Returns how pipelines request full subgroups of caps.subgroup_size.
SubgroupControl subgroup_control(const vk::raii::PhysicalDevice& device, const DeviceCaps& caps,
                                 const DeviceSupport& support) {
  const bool core = caps.api_version >= VK_API_VERSION_1_3;
  if (!core && !support.has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) return {};
  const bool can_set_size = support.has(kSubgroupSizeControl);
  using Properties = vk::PhysicalDeviceSubgroupSizeControlProperties;
  const Properties sizes =
      device.getProperties2<vk::PhysicalDeviceProperties2, Properties>().get<Properties>();
  SubgroupControl control;
  control.by_extension = !core;
  control.sets_size = can_set_size && (sizes.requiredSubgroupSizeStages & vk::ShaderStageFlagBits::eCompute);
  control.max_subgroups = sizes.maxComputeWorkgroupSubgroups;
  control.full = caps.subgroup_size > 0 && can_set_size && support.has(kFullSubgroups) &&
                 (control.sets_size || sizes.minSubgroupSize == sizes.maxSubgroupSize);
  return control;
}

constexpr vk::ImageUsageFlags kImageUsage =
    vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled |
    vk::ImageUsageFlagBits::eTransferSrc | vk::ImageUsageFlagBits::eTransferDst;

// Returns the largest image in bytes; 0 if the format does not support everything that Vellum needs.
uint64_t image_bytes_limit(const vk::raii::PhysicalDevice& device, vk::Format format, vk::ImageType type) {
  // Not the throwing call: an unsupported format is a valid answer here.
  VkImageFormatProperties properties{};
  const auto result =
      static_cast<vk::Result>(device.getDispatcher()->vkGetPhysicalDeviceImageFormatProperties(
          *device, static_cast<VkFormat>(format), static_cast<VkImageType>(type), VK_IMAGE_TILING_OPTIMAL,
          static_cast<VkImageUsageFlags>(kImageUsage), 0, &properties));
  if (result == vk::Result::eErrorFormatNotSupported) return 0;
  if (result != vk::Result::eSuccess)
    throw vk::SystemError(vk::make_error_code(result), "vkGetPhysicalDeviceImageFormatProperties");
  return properties.maxResourceSize;
}

void fill_images(PhysicalDevice& device) {
  const auto limit = [&](vk::Format format) {
    return std::min(image_bytes_limit(device.handle, format, vk::ImageType::e2D),
                    image_bytes_limit(device.handle, format, vk::ImageType::e3D));
  };
  const uint64_t f32 = limit(vk::Format::eR32G32B32A32Sfloat), f16 = limit(vk::Format::eR16G16B16A16Sfloat);
  device.caps.rgba32f_images = f32 > 0;
  device.caps.rgba16f_images = f16 > 0;
  device.max_image_bytes = std::min(f32 ? f32 : UINT64_MAX, f16 ? f16 : UINT64_MAX);
}

// Returns whether all of the largest device-local heap is host-visible.
bool has_unified_memory(const vk::PhysicalDeviceMemoryProperties& memory) {
  uint32_t largest = UINT32_MAX;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if ((memory.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) &&
        (largest == UINT32_MAX || memory.memoryHeaps[i].size > memory.memoryHeaps[largest].size))
      largest = i;
  constexpr auto both = vk::MemoryPropertyFlagBits::eDeviceLocal | vk::MemoryPropertyFlagBits::eHostVisible;
  return std::any_of(memory.memoryTypes.begin(), memory.memoryTypes.begin() + memory.memoryTypeCount,
                     [&](const vk::MemoryType& type) {
                       return type.heapIndex == largest && (type.propertyFlags & both) == both;
                     });
}

void fill_ids(PhysicalDevice& device) {
  using Ids = vk::PhysicalDeviceIDProperties;
  const Ids ids = device.handle.getProperties2<vk::PhysicalDeviceProperties2, Ids>().get<Ids>();
  std::ranges::copy(ids.deviceUUID, device.identity.uuid.begin());
  if (ids.deviceLUIDValid) std::ranges::copy(ids.deviceLUID, device.identity.luid.emplace().begin());
}

ExternalExtensions external_extensions(const DeviceSupport& support) {
  ExternalExtensions found;
  found.memory_fd = support.has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  found.dma_buf = found.memory_fd && support.has(VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
  found.memory_win32 = support.has(kMemoryWin32);
  found.host_pointer = support.has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  found.semaphore_fd = support.has(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  found.semaphore_win32 = support.has(kSemaphoreWin32);
  found.foreign_queues = support.has(VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME);
  found.hardware_buffer = found.foreign_queues && support.has(kHardwareBuffer);
  return found;
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_ignoring_case(const std::string& text, const std::string& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower_case(a) == lower_case(b); }) != text.end() ||
         part.empty();
}

// Lower is better.
int default_rank(DeviceType type) {
  constexpr std::array order{DeviceType::discrete_gpu, DeviceType::integrated_gpu, DeviceType::virtual_gpu,
                             DeviceType::cpu, DeviceType::other};
  return static_cast<int>(std::ranges::find(order, type) - order.begin());
}

std::optional<size_t> index_of(const std::vector<PhysicalDevice>& devices, const std::string& wanted) {
  const bool number =
      !wanted.empty() && wanted.size() < 6 && wanted.find_first_not_of("0123456789") == std::string::npos;
  if (number && std::stoul(wanted) < devices.size()) return std::stoul(wanted);
  for (size_t i = 0; i < devices.size(); ++i)
    if (std::ranges::equal(wanted, uuid_text(devices[i].identity.uuid), {}, lower_case)) return i;
  // A name may contain a number ("RTX 4090").
  std::optional<size_t> found;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!contains_ignoring_case(devices[i].caps.name, wanted)) continue;
    const bool better = !found || (wanted.empty() && default_rank(devices[i].caps.type) <
                                                         default_rank(devices[*found].caps.type));
    if (better) found = i;
  }
  return found;
}

}  // namespace

std::optional<QueueFamilies> choose_queue_families(const vk::raii::PhysicalDevice& device) {
  const auto families = device.getQueueFamilyProperties();
  const std::optional<uint32_t> compute = find_compute_family(families);
  if (device.getProperties().apiVersion < VK_API_VERSION_1_1 || !compute) return std::nullopt;
  return QueueFamilies{*compute, find_transfer_family(families)};
}

PhysicalDevice describe_device(vk::raii::PhysicalDevice handle, uint32_t instance_version,
                               const QueueFamilies& families, const EnabledFeatures* enabled) {
  const vk::PhysicalDeviceProperties properties = handle.getProperties();
  PhysicalDevice device;
  device.queue_family = families.compute;
  device.transfer_family = families.transfer;
  const std::vector<vk::QueueFamilyProperties> queues = handle.getQueueFamilyProperties();
  device.timestamp_bits = queues.at(families.compute).timestampValidBits;
  device.draws = std::ranges::any_of(queues, [](const vk::QueueFamilyProperties& family) {
    return static_cast<bool>(family.queueFlags & vk::QueueFlagBits::eGraphics);
  });
  device.max_uniform_buffers_per_stage = std::min(properties.limits.maxPerStageDescriptorUniformBuffers,
                                                  properties.limits.maxDescriptorSetUniformBuffers);
  DeviceCaps& caps = device.caps;
  fill_identity(caps, properties);
  caps.api_version = std::min(properties.apiVersion, instance_version);
  fill_limits(caps, properties.limits);
  const DeviceSupport support(handle, enabled);
  const bool has_driver_properties =
      caps.api_version >= VK_API_VERSION_1_2 || support.offers(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  caps.driver = driver_name(handle, has_driver_properties, properties.driverVersion);
  fill_features(caps, handle, support);
  fill_dot_products(caps, handle, support);
  device.subgroups = subgroup_control(handle, caps, support);
  caps.full_subgroups = device.subgroups.full;
  if (device.timestamp_bits > 0) caps.timestamp_period_ns = properties.limits.timestampPeriod;
  caps.unified_memory = has_unified_memory(handle.getMemoryProperties());
  caps.cooperative_obstacle = "unknown before the device is opened";
  caps.portability_driver = support.offers(kPortabilitySubset);
  caps.declares_inf_nan_preserve = can_preserve_inf_nan(handle, support, caps.api_version);
  for (const char* extension : {VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME, VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME})
    if (support.offers(extension)) device.global_priority = extension;
  device.pipeline_statistics = support.has(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME) &&
                               support.has(kPipelineExecutableInfo);
  device.ycbcr = support.has(kSamplerYcbcrConversion);
  const vk::PhysicalDeviceFeatures offered = handle.getFeatures();
  device.extended_storage_formats =
      enabled && enabled->has(kExtendedStorageFormats) && offered.shaderStorageImageExtendedFormats;
  device.writes_without_format =
      enabled && enabled->has(kWritesWithoutFormat) && offered.shaderStorageImageWriteWithoutFormat;
  device.timeline_semaphores = enabled && enabled->has(kTimelineSemaphore);
  device.external_extensions = external_extensions(support);
  device.maintenance4 = caps.api_version >= VK_API_VERSION_1_3 && support.has(kMaintenance4);
  device.handle = std::move(handle);
  fill_images(device);
  fill_ids(device);
  set_default_traits(caps);
  apply_driver_quirks(caps);
  return device;
}

PhysicalDevice with_cooperative_matrices(PhysicalDevice device, const EnabledFeatures* enabled,
                                         CrashMarks* marks) {
  device.caps.cooperative_obstacle.clear();
  if (crashes_in_cooperative_query(device.caps)) {
    device.caps.cooperative_obstacle = "the driver may end the process when it is asked";
  } else if (marks && marks->has_crashed(AttemptKind::cooperative_query)) {
    device.caps.cooperative_obstacle = "the driver ended an earlier process when it was asked";
  } else {
    fill_cooperative_matrices(device.caps, device.handle, DeviceSupport(device.handle, enabled), marks);
  }
  return device;
}

std::vector<PhysicalDevice> usable_devices(const Instance& instance) {
  std::vector<PhysicalDevice> devices;
  if (!instance.has_driver()) return devices;
  try {
    for (vk::raii::PhysicalDevice& handle : vk::raii::PhysicalDevices(instance.handle()))
      if (const auto families = choose_queue_families(handle)) {
        PhysicalDevice& device = devices.emplace_back(
            describe_device(std::move(handle), instance.api_version(), *families, nullptr));
        device.identity.index = static_cast<uint32_t>(devices.size() - 1);
      }
  } catch (const vk::InitializationFailedError&) {
    // Loaders report this when there is no driver at all.
  }
  return devices;
}

PhysicalDevice select_device(std::vector<PhysicalDevice> devices, const std::string& wanted) {
  if (devices.empty())
    throw Error(
        ErrorCode::no_device,
        "no device with Vulkan 1.1 and a compute queue; install the GPU's Vulkan driver, or one that runs on "
        "the CPU (Debian: mesa-vulkan-drivers)");
  if (const std::optional<size_t> index = index_of(devices, wanted)) return std::move(devices[*index]);
  std::string message = "no device matches \"" + wanted + "\"; the devices are";
  for (size_t i = 0; i < devices.size(); ++i)
    message += (i ? ", " : " ") + std::to_string(i) + ": " + devices[i].caps.name;
  throw Error(ErrorCode::no_device, message);
}

}  // namespace vellum::gpu
