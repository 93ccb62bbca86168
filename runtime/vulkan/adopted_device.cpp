#include "vulkan/adopted_device.hpp"

#include <string>

#include "vellum/error.hpp"
#include "vellum/vulkan.hpp"
#include "vulkan/crash_marks.hpp"
#include "vulkan/device_uses.hpp"
#include "vulkan/error_translation.hpp"

namespace vellum::gpu {
namespace {

void require_handle(const void* handle, const char* what) {
  if (!handle) throw Error(ErrorCode::invalid_argument, std::string(what) + " is null");
}

std::string name_of(const vk::raii::PhysicalDevice& device) {
  return device.getProperties().deviceName.data();
}

void check_locks(const VulkanQueue& queue, const char* name) {
  if (!queue.lock != !queue.unlock)
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " has one callback of two: set both lock and unlock, or none");
}

void check_extension_names(std::span<const char* const> extensions) {
  if (!extensions.data() && !extensions.empty())
    throw Error(ErrorCode::invalid_argument, "VulkanDevice::extensions is null");
  for (size_t i = 0; i < extensions.size(); ++i)
    require_handle(extensions[i], ("VulkanDevice::extensions: name " + std::to_string(i)).c_str());
}

// The families of the application's queues.
QueueFamilies checked_families(const vk::raii::PhysicalDevice& physical, const VulkanDevice& device) {
  using Queue = vk::QueueFlagBits;
  const auto families = physical.getQueueFamilyProperties();
  const auto flags = [&](const VulkanQueue& queue, const char* name) {
    require_handle(queue.queue, (std::string(name) + ".queue").c_str());
    if (queue.family < families.size()) return families[queue.family].queueFlags;
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + ".family is " + std::to_string(queue.family) + ", but " +
                    name_of(physical) + " has " + std::to_string(families.size()) + " queue families");
  };
  if (!(flags(device.compute, "VulkanDevice::compute") & Queue::eCompute))
    throw Error(ErrorCode::invalid_argument, "VulkanDevice::compute: the queue family " +
                                                 std::to_string(device.compute.family) + " of " +
                                                 name_of(physical) + " does not compute");
  QueueFamilies used{device.compute.family};
  if (!device.transfer || device.transfer->queue == device.compute.queue) return used;
  const bool copies = bool(flags(*device.transfer, "VulkanDevice::transfer") &
                           (Queue::eTransfer | Queue::eCompute | Queue::eGraphics));
  used.transfer = device.transfer->family;
  if (!copies || families[*used.transfer].minImageTransferGranularity != vk::Extent3D(1, 1, 1))
    throw Error(ErrorCode::invalid_argument, "VulkanDevice::transfer: the queue family " +
                                                 std::to_string(*used.transfer) + " of " + name_of(physical) +
                                                 " does not copy regions of any extent");
  return used;
}

void require_enabled(const PhysicalDevice& device, const EnabledFeatures& enabled) {
  for (const Use& use : device_uses(device, device.caps)) {
    if (!use.required) continue;
    const auto refuse = [&](const char* kind, const char* name) {
      throw Error(ErrorCode::unsupported, "the application's device was made without the " +
                                              std::string(kind) + " " + name + ", which Vellum requires of " +
                                              device.caps.name);
    };
    for (const char* extension : use.extensions)
      if (!enabled.has(extension)) refuse("extension", extension);
    for (const Feature& feature : use.features)
      if (!enabled.has(feature)) refuse("feature", feature.name);
  }
}

}  // namespace

vk::raii::PhysicalDevice adopted_physical_device(const Instance& instance,
                                                 const VulkanPhysicalDevice& device) {
  require_handle(device.physical_device, "VulkanPhysicalDevice::physical_device");
  vk::raii::PhysicalDevice handle(instance.handle(), device.physical_device);
  if (!choose_queue_families(handle))
    throw Error(ErrorCode::unsupported, name_of(handle) + " has no Vulkan 1.1, or no queue that computes");
  return handle;
}

PhysicalDevice describe_adopted(const Instance& instance, const VulkanDevice& device,
                                const ContextOptions& options, CrashMarks& marks) {
  return translated("describing the application's device", [&] {
    require_handle(device.device, "VulkanDevice::device");
    const vk::raii::PhysicalDevice handle = adopted_physical_device(instance, device.physical);
    const QueueFamilies families = checked_families(handle, device);
    check_locks(device.compute, "VulkanDevice::compute");
    if (device.transfer) check_locks(*device.transfer, "VulkanDevice::transfer");
    check_extension_names(device.extensions);
    const EnabledFeatures enabled{device.extensions, device.features};
    require_enabled(describe_device(handle, instance.api_version(), families, nullptr), enabled);
    PhysicalDevice described = describe_device(handle, instance.api_version(), families, &enabled);
    marks.open(options.cache_folder, described.caps, options.log);
    return with_cooperative_matrices(std::move(described), &enabled, &marks);
  });
}

}  // namespace vellum::gpu
