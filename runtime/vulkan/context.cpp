#include "vulkan/context.hpp"

#include <array>

#include "vulkan/context_impl.hpp"
#include "vulkan/cooperative_matrices.hpp"

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

// Enables only the features that the caps contain.
vk::raii::Device create_device(const PhysicalDevice& physical, const DeviceCaps& caps, float priority) {
  std::vector<vk::DeviceQueueCreateInfo> queues{{{}, physical.queue_family, 1, &priority}};
  if (physical.transfer_family) queues.push_back({{}, *physical.transfer_family, 1, &priority});
  std::vector<const char*> extensions;

  vk::PhysicalDeviceMaintenance4Features maintenance4(VK_TRUE);
  vk::PhysicalDeviceShaderFloat16Int8Features float16(VK_TRUE);
  vk::PhysicalDevice16BitStorageFeatures storage16(VK_TRUE);
  vk::PhysicalDeviceSubgroupSizeControlFeatures subgroup_sizes(VK_TRUE, VK_TRUE);
  vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR pipeline_statistics(VK_TRUE);
  void* chain = nullptr;
  const auto enable = [&chain](auto& features) {
    features.pNext = chain;
    chain = &features;
  };
  if (physical.maintenance4) enable(maintenance4);
  if (caps.fp16_buffer_storage) enable(storage16);
  if (caps.fp16_arithmetic) {
    enable(float16);
    // Core since 1.2.
    if (physical.caps.api_version < VK_API_VERSION_1_2)
      extensions.push_back(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  }
  if (caps.full_subgroups) {
    enable(subgroup_sizes);
    if (physical.subgroups.by_extension) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
  if (physical.pipeline_statistics) {
    enable(pipeline_statistics);
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  }
  if (physical.portability_subset) extensions.push_back(kPortabilitySubset);
  if (caps.memory_budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  CooperativeFeatures cooperative(caps.cooperative_matrices.empty() ? caps : physical.caps, chain,
                                  extensions);

  vk::DeviceCreateInfo info({}, queues, {}, extensions);
  info.setPNext(cooperative.chain());
  return translated("opening the device " + caps.name,
                    [&] { return vk::raii::Device(physical.handle, info); });
}

vk::raii::Sampler create_nearest_sampler(const vk::raii::Device& device) {
  vk::SamplerCreateInfo info;
  info.setAddressModeU(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeV(vk::SamplerAddressMode::eClampToEdge)
      .setAddressModeW(vk::SamplerAddressMode::eClampToEdge);
  return translated("creating a sampler", [&] { return vk::raii::Sampler(device, info); });
}

}  // namespace

Context::Impl::Impl(const ContextOptions& context_options)
    : options(context_options),
      validation{context_options.log},
      instance(options, validation),
      physical(translated("listing the Vulkan devices",
                          [&] { return select_device(usable_devices(instance), options.device); })),
      caps(adjusted(physical.caps, options)),
      memory_properties(physical.handle.getMemoryProperties()),
      device(create_device(physical, caps, checked_priority(options.queue_priority))),
      queue(device, physical.queue_family, 0),
      nearest_sampler(create_nearest_sampler(device)),
      shader_compiler(options.cache_folder, options.log) {
  if (physical.transfer_family) transfer_queue.emplace(device, *physical.transfer_family, 0);
}

std::vector<ListedDevice> list_devices(const ContextOptions& options) {
  ValidationLog validation{options.log};
  const Instance instance(options, validation);
  std::vector<ListedDevice> all;
  for (const PhysicalDevice& device :
       translated("listing the Vulkan devices", [&] { return usable_devices(instance); }))
    all.push_back({adjusted(device.caps, options), device.identity});
  return all;
}

std::shared_ptr<Context> Context::create(const ContextOptions& options) {
  return std::shared_ptr<Context>(new Context(options));
}

Context::Context(const ContextOptions& options) : impl_(std::make_unique<Impl>(options)) {
  impl_->pipelines.emplace(*this);
}

Context::~Context() { impl_->pipelines->save(); }

const DeviceCaps& Context::caps() const { return impl_->caps; }
const DeviceIdentity& Context::identity() const { return impl_->physical.identity; }
const DeviceCaps& Context::device_caps() const { return impl_->physical.caps; }
const ContextOptions& Context::options() const { return impl_->options; }
bool Context::has_transfer_queue() const { return impl_->transfer_queue.has_value(); }
PipelineRegistry& Context::pipelines() { return *impl_->pipelines; }
MemoryStatistics Context::memory_statistics() const { return impl_->memory.statistics(); }
void Context::reset_memory_peaks() { impl_->memory.reset_peaks(); }

ValidationCounts Context::validation_messages() const {
  return {impl_->validation.errors, impl_->validation.warnings};
}

void Context::log(LogLevel level, std::string_view message) const {
  if (impl_->options.log) impl_->options.log(level, message);
}

void Context::wait_idle() {
  const std::lock_guard lock(impl_->queue_mutex);
  translated("waiting for the device", [&] { impl_->device.waitIdle(); });
}

}  // namespace vellum::gpu
