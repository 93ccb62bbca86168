#include "vulkan/context.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "platform/private_files.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/vulkan.hpp"
#include "vulkan/adopted_device.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/device_uses.hpp"
#include "vulkan/disown.hpp"
#include "vulkan/kept_instance.hpp"

namespace vellum::gpu {
namespace {

DeviceCaps adjusted(const DeviceCaps& caps, const ContextOptions& options) {
  return options.adjust_caps ? options.adjust_caps(caps) : caps;
}

float checked_priority(float priority) {
  if (!(priority >= 0 && priority <= 1))
    throw Error(ErrorCode::invalid_argument,
                "the queue priority is " + std::to_string(priority) + "; it must be from 0 to 1");
  return priority;
}

vk::QueueGlobalPriorityKHR vulkan_priority(GlobalPriority priority) {
  switch (priority) {
    case GlobalPriority::low:
      return vk::QueueGlobalPriorityKHR::eLow;
    case GlobalPriority::high:
      return vk::QueueGlobalPriorityKHR::eHigh;
    case GlobalPriority::realtime:
      return vk::QueueGlobalPriorityKHR::eRealtime;
    default:
      return vk::QueueGlobalPriorityKHR::eMedium;
  }
}

// Enables only the features that the caps contain.
vk::raii::Device create_device(const PhysicalDevice& physical, const DeviceCaps& caps,
                               const ContextOptions& options) {
  const float priority = checked_priority(options.queue_priority);
  std::vector<vk::DeviceQueueCreateInfo> queues{{{}, physical.queue_family, 1, &priority}};
  if (physical.transfer_family) queues.push_back({{}, *physical.transfer_family, 1, &priority});
  std::vector<const char*> extensions;
  const vk::DeviceQueueGlobalPriorityCreateInfoKHR global_priority(vulkan_priority(options.global_priority));
  if (options.global_priority != GlobalPriority::unspecified) {
    if (!physical.global_priority)
      throw Error(ErrorCode::unsupported,
                  caps.name + " has neither VK_KHR_global_priority nor VK_EXT_global_priority");
    extensions.push_back(physical.global_priority);
    for (vk::DeviceQueueCreateInfo& queue : queues) queue.setPNext(&global_priority);
  }
  FeatureChain features;
  for (const Use& use : device_uses(physical, caps)) {
    extensions.insert(extensions.end(), use.extensions.begin(), use.extensions.end());
    for (const Feature& feature : use.features) features.enable(feature);
  }
  vk::DeviceCreateInfo info({}, queues, {}, extensions);
  info.setPNext(features.head());
  return translated("opening the device " + caps.name, [&] {
    try {
      return vk::raii::Device(physical.handle, info);
    } catch (const vk::SystemError& error) {
      if (error.code().value() != VK_ERROR_NOT_PERMITTED_KHR) throw;
      throw Error(ErrorCode::unsupported,
                  caps.name + " does not let this user have the global_priority: ask for a lower one");
    }
  });
}

DeviceMemoryCallbacks checked_callbacks(const DeviceMemoryCallbacks& callbacks) {
  if (!callbacks.allocate != !callbacks.free)
    throw Error(ErrorCode::invalid_argument,
                "VulkanDevice::memory has one callback of two: set both allocate and free, or none");
  return callbacks;
}

PhysicalDevice choose_device(const Instance& instance, const ContextOptions& options, CrashMarks& marks) {
  return translated("listing the Vulkan devices", [&] {
    std::vector<PhysicalDevice> devices = usable_devices(instance);
    keep_drivers_loaded(devices, options);
    PhysicalDevice device = select_device(std::move(devices), options.device);
    marks.open(options.cache_folder, device.caps, options.log);
    return with_cooperative_matrices(std::move(device), nullptr, &marks);
  });
}

vk::raii::Device adopt_device(const PhysicalDevice& physical, const VulkanDevice& adopted) {
  vk::raii::Device device(physical.handle, adopted.device);
  disown(device);
  return device;
}

LockedQueue adopt_queue(const vk::raii::Device& device, const VulkanQueue& queue) {
  return {vk::raii::Queue(device, queue.queue), queue.lock, queue.unlock};
}

vk::raii::Sampler create_nearest_sampler(const vk::raii::Device& device,
                                         const vk::AllocationCallbacks* allocator) {
  vk::SamplerCreateInfo info;
  info.setAddressModeU(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeV(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeW(vk::SamplerAddressMode::eClampToEdge);
  return translated("creating a sampler", [&] { return vk::raii::Sampler(device, info, allocator); });
}

// Without a cache folder to which other users can write: what it holds is run on the device.
ContextOptions with_trusted_cache(ContextOptions options) {
  if (options.cache_folder.empty()) return options;
  for (const std::filesystem::path& folder :
       {options.cache_folder, options.cache_folder / "spirv", options.cache_folder / "weights"}) {
    const std::optional<std::string> why = platform::why_untrusted(folder);
    if (!why) continue;
    if (options.log)
      options.log(LogLevel::warning, "the cache folder " + platform::to_utf8(folder) +
                                         " is not used, because " + *why +
                                         "; give it to this user alone (chmod 700), or choose another");
    options.cache_folder.clear();
    break;
  }
  return options;
}

}  // namespace

Context::Impl::Impl(const ContextOptions& context_options, const VulkanDevice* adopted_device)
    : options(with_trusted_cache(context_options)),
      adopted(adopted_device != nullptr),
      validation{context_options.log},
      instance(adopted ? Instance(adopted_device->physical) : Instance(options, validation)),
      physical(adopted ? describe_adopted(instance, *adopted_device, options, crash_marks)
                       : choose_device(instance, options, crash_marks)),
      caps(adjusted(physical.caps, options)),
      memory_properties(physical.handle.getMemoryProperties()),
      allocation_callbacks(adopted && adopted_device->allocation_callbacks
                               ? std::optional<vk::AllocationCallbacks>(*adopted_device->allocation_callbacks)
                               : std::nullopt),
      memory_callbacks(adopted ? checked_callbacks(adopted_device->memory) : DeviceMemoryCallbacks{}),
      device(adopted ? adopt_device(physical, *adopted_device) : create_device(physical, caps, options)),
      queue(adopted ? adopt_queue(device, adopted_device->compute)
                    : LockedQueue{vk::raii::Queue(device, physical.queue_family, 0)}),
      nearest_sampler(create_nearest_sampler(device, allocator())),
      shader_compiler(options.cache_folder, options.log) {
  const bool can_label = device.getDispatcher()->vkCmdBeginDebugUtilsLabelEXT != nullptr;
  if (options.debug_labels && !can_label)
    throw Error(ErrorCode::unsupported,
                "debug_labels needs VK_EXT_debug_utils, which the application's instance has not enabled");
  debug_labels = can_label && (options.debug_labels || (options.validation && !adopted));
  if (!physical.transfer_family) return;
  transfer_queue.emplace(adopted ? adopt_queue(device, *adopted_device->transfer)
                                 : LockedQueue{vk::raii::Queue(device, *physical.transfer_family, 0)});
}

std::vector<ListedDevice> list_devices(const ContextOptions& options) {
  ValidationLog validation{options.log};
  const Instance instance(options, validation);
  std::vector<ListedDevice> all;
  const std::vector<PhysicalDevice> devices =
      translated("listing the Vulkan devices", [&] { return usable_devices(instance); });
  keep_drivers_loaded(devices, options);
  for (const PhysicalDevice& device : devices)
    all.push_back({adjusted(device.caps, options), device.identity});
  return all;
}

std::shared_ptr<Context> Context::create(const ContextOptions& options) {
  return std::shared_ptr<Context>(new Context(options, nullptr));
}

std::shared_ptr<Context> Context::adopt(const VulkanDevice& device, const ContextOptions& options) {
  return std::shared_ptr<Context>(new Context(options, &device));
}

Context::Context(const ContextOptions& options, const VulkanDevice* adopted)
    : impl_(std::make_unique<Impl>(options, adopted)) {
  impl_->pipelines.emplace(*this);
}

Context::~Context() {
  impl_->pipelines->save();
  if (impl_->retained.is_lost()) {
    try {
      wait_idle();
    } catch (const Error&) {
      // It says that the device is lost, when its work has stopped.
    }
    impl_->retained.free_all();
    return;
  }
  // A device that is slow has some time more, since drivers whose threads still work when the process ends
  // may crash. One that hangs may use what the context owns for any time: then it is never freed.
  constexpr std::chrono::nanoseconds kLeastLastWait = std::chrono::seconds(10);
  if (!impl_->retained.collect_after(std::max(impl_->options.wait_limit, kLeastLastWait))) {
    log(LogLevel::error, impl_->caps.name + " does not finish; its objects are not freed");
    static_cast<void>(impl_.release());
  }
}

const DeviceCaps& Context::caps() const { return impl_->caps; }
bool Context::is_adopted() const { return impl_->adopted; }
const DeviceIdentity& Context::identity() const { return impl_->physical.identity; }
const DeviceCaps& Context::device_caps() const { return impl_->physical.caps; }
const ContextOptions& Context::options() const { return impl_->options; }
bool Context::draws() const { return impl_->physical.draws; }
bool Context::has_transfer_queue() const { return impl_->transfer_queue.has_value(); }
PipelineRegistry& Context::pipelines() { return *impl_->pipelines; }
CrashMarks& Context::crash_marks() const { return impl_->crash_marks; }
MemoryStatistics Context::memory_statistics() const { return impl_->memory.statistics(); }
void Context::reset_memory_peaks() { impl_->memory.reset_peaks(); }

ValidationCounts Context::validation_messages() const {
  return {impl_->validation.errors, impl_->validation.warnings};
}

void Context::log(LogLevel level, std::string_view message) const {
  if (impl_->options.log) impl_->options.log(level, message);
}

bool Context::has_debug_labels() const { return impl_->debug_labels; }

void Context::name_object(VkObjectType type, uint64_t handle, const std::string& name) const {
  if (!impl_->debug_labels) return;
  translated("naming an object", [&] {
    impl_->device.setDebugUtilsObjectNameEXT({vk::ObjectType(type), handle, name.c_str()});
  });
}

void Context::wait_idle() {
  const auto wait = [](const vk::raii::Queue& queue) {
    translated("waiting for the device", [&] { queue.waitIdle(); });
  };
  impl_->noting_loss([&] {
    impl_->use_queue(QueueKind::compute, wait);
    if (impl_->transfer_queue) impl_->use_queue(QueueKind::transfer, wait);
  });
}

}  // namespace vellum::gpu
