#include "vulkan_app.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "support/environment.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

VKAPI_ATTR VkBool32 VKAPI_CALL fail_on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                               VkDebugUtilsMessageTypeFlagsEXT type,
                                               const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  // Where a thread waits for a timeline semaphore or a fence, the layer now and then waits ten seconds for a
  // thread of its own, and says itself that this is most likely its bug.
  for (const char* own_timeout : {"UNASSIGNED-VkSemaphore-state-timeout", "UNASSIGNED-VkFence-state-timeout"})
    if (std::string_view(data->pMessage).find(own_timeout) != std::string_view::npos) return VK_FALSE;
  if (type != VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) ADD_FAILURE() << data->pMessage;
  return VK_FALSE;
}

vk::raii::Instance make_instance(const vk::raii::Context& loader, uint32_t api_version) {
  std::vector<const char*> layers{"VK_LAYER_KHRONOS_validation"};
  std::vector<const char*> extensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                      VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME,
                                      VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  if (!with_validation()) layers.clear(), extensions.pop_back();
  constexpr std::array enabled{vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
  const vk::ValidationFeaturesEXT validation(enabled);
  const vk::ApplicationInfo application("application", 1, "engine", 1, api_version);
  vk::InstanceCreateInfo info(vk::InstanceCreateFlagBits::eEnumeratePortabilityKHR, &application, layers,
                              extensions);
  if (with_validation()) info.setPNext(&validation);
  return {loader, info};
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info() {
  using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
  using Kind = vk::DebugUtilsMessageTypeFlagBitsEXT;
  return {{},
          Severity::eWarning | Severity::eError,
          Kind::eGeneral | Kind::eValidation | Kind::ePerformance,
          fail_on_message};
}

// A universal family, as a renderer uses.
uint32_t find_family(const vk::raii::PhysicalDevice& device) {
  const auto families = device.getQueueFamilyProperties();
  const auto found = std::ranges::find_if(families, [](const vk::QueueFamilyProperties& family) {
    return bool(family.queueFlags & vk::QueueFlagBits::eCompute);
  });
  return static_cast<uint32_t>(found - families.begin());
}

}  // namespace

VulkanApp::VulkanApp(PFN_vkGetInstanceProcAddr for_vellum, const AppOptions& options)
    : options_(options), for_vellum_(for_vellum), instance_(make_instance(loader_, options.api_version)) {
  messenger_ = vk::raii::DebugUtilsMessengerEXT(instance_, messenger_info());
  physical_ = std::move(vk::raii::PhysicalDevices(instance_).front());
  family_ = find_family(physical_);
  const uint32_t version = std::min(options.api_version, physical_.getProperties().apiVersion);
  void* chain = nullptr;
  if (options.own_structures && version >= VK_API_VERSION_1_2) {
    features_.core11.pNext = &features_.core12;
    if (version >= VK_API_VERSION_1_3) features_.core12.pNext = &features_.core13;
    features_.core10.pNext = &features_.core11;
    chain = &features_.core10;
  }
  if (options.wanted_by_vellum) {
    requirements_.push_back(Device::requirements(physical()));
    extensions_ = requirements_.back().extensions();
    chain = requirements_.back().enable_features(chain);
  }
  if (options.adjust) options.adjust(features_, extensions_);
  chain_ = chain;
  constexpr float priority = 1;
  const vk::DeviceQueueCreateInfo queue({}, family_, 1, &priority);
  vk::DeviceCreateInfo info({}, queue, {}, extensions_);
  device_ = vk::raii::Device(physical_, info.setPNext(chain_));
  queue_ = vk::raii::Queue(device_, family_, 0);
  pool_ = vk::raii::CommandPool(device_, {vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family_});
}

VulkanPhysicalDevice VulkanApp::physical() const {
  return {for_vellum_, *instance_, options_.api_version, *physical_};
}

VulkanDevice VulkanApp::device() const {
  return {.physical = physical(),
          .device = *device_,
          .compute = {*queue_, family_},
          .extensions = extensions_,
          .features = chain_,
          .allocation_callbacks = options_.allocation_callbacks};
}

vk::raii::DeviceMemory VulkanApp::allocate(const vk::MemoryRequirements& needed,
                                           vk::MemoryPropertyFlags wanted) {
  const vk::PhysicalDeviceMemoryProperties memory = physical_.getMemoryProperties();
  uint32_t type = 0;
  while (!(needed.memoryTypeBits >> type & 1) || (memory.memoryTypes[type].propertyFlags & wanted) != wanted)
    ++type;
  return {device_, {needed.size, type}};
}

AppImage VulkanApp::make_image(vk::Format format, uint32_t width, uint32_t height, vk::ImageUsageFlags usage,
                               vk::ImageCreateFlags flags) {
  AppImage made;
  made.format = format;
  made.width = width;
  made.height = height;
  vk::ImageCreateInfo info(flags, vk::ImageType::e2D, format, {width, height, 1}, 1, 1);
  made.image = vk::raii::Image(device_, info.setUsage(usage));
  made.memory = allocate(made.image.getMemoryRequirements(), vk::MemoryPropertyFlagBits::eDeviceLocal);
  made.image.bindMemory(*made.memory, 0);
  return made;
}

AppBuffer VulkanApp::make_buffer(uint64_t bytes, vk::BufferUsageFlags usage) {
  using Flag = vk::MemoryPropertyFlagBits;
  AppBuffer made;
  made.bytes = bytes;
  made.buffer = vk::raii::Buffer(device_, {{}, bytes, usage});
  made.memory = allocate(made.buffer.getMemoryRequirements(), Flag::eHostVisible | Flag::eHostCoherent);
  made.buffer.bindMemory(*made.memory, 0);
  made.data = static_cast<std::byte*>(made.memory.mapMemory(0, VK_WHOLE_SIZE));
  return made;
}

vk::raii::Semaphore VulkanApp::make_timeline() {
  const vk::SemaphoreTypeCreateInfo type(vk::SemaphoreType::eTimeline, 0);
  vk::SemaphoreCreateInfo info;
  return {device_, info.setPNext(&type)};
}

vk::raii::CommandBuffer VulkanApp::make_commands() {
  const vk::CommandBufferAllocateInfo info(*pool_, vk::CommandBufferLevel::ePrimary, 1);
  return std::move(vk::raii::CommandBuffers(device_, info).front());
}

void VulkanApp::submit(const vk::raii::CommandBuffer& commands, vk::Fence fence, const void* next) {
  vk::SubmitInfo info({}, {}, *commands);
  queue_.submit(info.setPNext(next), fence);
}

void VulkanApp::submit_and_wait(const vk::raii::CommandBuffer& commands) {
  const vk::raii::Fence fence(device_, vk::FenceCreateInfo());
  submit(commands, *fence);
  ASSERT_EQ(device_.waitForFences(*fence, VK_TRUE, UINT64_MAX), vk::Result::eSuccess);
}

}  // namespace vellum::test
