// A minimal engine that embeds Vellum: its Vulkan device, which Vellum adopts, and its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "vellum/vellum.hpp"
#include "vellum/vulkan.hpp"

namespace vellum::samples {

inline constexpr uint32_t kVulkan = VK_API_VERSION_1_3;

// An engine whose device is created with the extensions and features that Vellum uses.
class Engine {
 public:
  Engine() : instance_(make_instance()), physical_(std::move(vk::raii::PhysicalDevices(instance_).front())) {
    const VulkanPhysicalDevice physical = vulkan_physical_device();
    const DeviceRequirements wants = Device::requirements(physical);
    for (const DeviceUse& use : wants.uses())
      std::printf("Vellum would use %s (%s)\n", use.purpose.c_str(), use.required ? "required" : "optional");
    // An engine adds its own extensions and features here.
    const std::vector<const char*>& extensions = wants.extensions();
    void* const features = wants.enable_features(nullptr);

    constexpr float priority = 1;
    family_ = wants.compute_family();
    const vk::DeviceQueueCreateInfo queue({}, family_, 1, &priority);
    vk::DeviceCreateInfo info({}, queue, {}, extensions);
    device_ = vk::raii::Device(physical_, info.setPNext(features));
    queue_ = vk::raii::Queue(device_, family_, 0);
    pool_ = vk::raii::CommandPool(device_, {{}, family_});
    vellum_.emplace(Device::adopt({.physical = physical,
                                   .device = *device_,
                                   .compute = {*queue_, family_},
                                   .extensions = extensions,
                                   .features = features}));
  }

  const Device& vellum() const { return *vellum_; }
  const vk::raii::Device& device() const { return device_; }
  const vk::raii::PhysicalDevice& physical() const { return physical_; }
  const vk::raii::Queue& queue() const { return queue_; }

  vk::raii::CommandBuffer make_commands() const {
    const vk::CommandBufferAllocateInfo info(*pool_, vk::CommandBufferLevel::ePrimary, 1);
    return std::move(vk::raii::CommandBuffers(device_, info).front());
  }

 private:
  vk::raii::Instance make_instance() const {
    const vk::ApplicationInfo application("embed", 1, "engine", 1, kVulkan);
    return {context_, vk::InstanceCreateInfo({}, &application)};
  }
  VulkanPhysicalDevice vulkan_physical_device() const {
    return {context_.getDispatcher()->vkGetInstanceProcAddr, *instance_, kVulkan, *physical_};
  }

  // Members are destroyed in reverse order: Vellum's device first, then the engine's.
  vk::raii::Context context_;
  vk::raii::Instance instance_;
  vk::raii::PhysicalDevice physical_;
  uint32_t family_ = 0;
  vk::raii::Device device_{nullptr};
  vk::raii::Queue queue_{nullptr};
  vk::raii::CommandPool pool_{nullptr};
  std::optional<Device> vellum_;
};

// A minimal host-visible buffer; an engine would use device-local memory.
struct SharedBuffer {
  SharedBuffer(const Engine& engine, std::string tensor, const BufferLayout& layout)
      : name(std::move(tensor)),
        bytes(layout.bytes),
        buffer(engine.device(), {{}, bytes, vk::BufferUsageFlags(layout.usage)}) {
    using Flag = vk::MemoryPropertyFlagBits;
    const vk::MemoryRequirements needed = buffer.getMemoryRequirements();
    const auto memory_properties = engine.physical().getMemoryProperties();
    constexpr vk::MemoryPropertyFlags wanted = Flag::eHostVisible | Flag::eHostCoherent;
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1) ||
           (memory_properties.memoryTypes[type].propertyFlags & wanted) != wanted)
      ++type;
    memory = vk::raii::DeviceMemory(engine.device(), {needed.size, type});
    buffer.bindMemory(*memory, 0);
    data = static_cast<std::byte*>(memory.mapMemory(0, VK_WHOLE_SIZE));
  }

  BufferBinding binding() const { return {name, *buffer, 0, bytes}; }

  std::string name;
  VkDeviceSize bytes;
  vk::raii::Buffer buffer;
  vk::raii::DeviceMemory memory{nullptr};
  std::byte* data = nullptr;
};

}  // namespace vellum::samples
