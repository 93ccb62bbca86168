// The loader, the instance and the validation layer's messages.
#pragma once

#include <atomic>
#include <optional>

#include "platform/dynamic_library.hpp"
#include "vellum/log.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum {
struct VulkanPhysicalDevice;
}

namespace vellum::gpu {

struct ContextOptions;

// The receiver of the debug messenger's messages; the instance holds its address.
struct ValidationLog {
  LogCallback log;
  std::atomic<uint64_t> errors{0}, warnings{0};
};

// A Vulkan instance: one that Vellum creates, or the application's.
class Instance {
 public:
  // Opens the loader and creates an instance, which also enumerates portability drivers if the loader can.
  // validation_log must outlive the instance; it is only used with options.validation. Throws
  // Error(no_device) without a loader, with a loader of Vulkan 1.0, or without the requested layer.
  Instance(const ContextOptions& options, ValidationLog& validation_log);

  // Wraps the application's instance. The application destroys it. Throws Error(invalid_argument) for a null
  // handle, Error(unsupported) for an instance of Vulkan 1.0.
  explicit Instance(const VulkanPhysicalDevice& adopted);

  // False: the loader found no driver, so there is no handle and no device.
  bool has_driver() const { return static_cast<bool>(*instance_); }
  const vk::raii::Instance& handle() const { return instance_; }
  uint32_t api_version() const { return api_version_; }  // API version of the instance

 private:
  void create(const vk::InstanceCreateInfo& info);

  platform::DynamicLibrary library_;
  std::optional<vk::raii::Context> loader_;
  uint32_t api_version_ = 0;
  vk::raii::Instance instance_{nullptr};
  vk::raii::DebugUtilsMessengerEXT messenger_{nullptr};
};

}  // namespace vellum::gpu
