// Vulkan devices: listing them and opening one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vellum/device_id.hpp"
#include "vellum/export.h"
#include "vellum/log.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct DeviceInfo {
  uint32_t index = 0;  // position in the result of devices()
  DeviceUuid uuid{};
  std::optional<DeviceLuid> luid;         // if the driver reports one; drivers on Windows do
  uint32_t vendor_id = 0, device_id = 0;  // VkPhysicalDeviceProperties
  std::string name;
  std::string type;               // "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
  std::string driver;             // name and version
  std::string api_version;        // "1.3.230", or "1.3" where the driver has a newer version than Vellum uses
  std::string preferred_storage;  // the meaning of StorageChoice::automatic
  bool fp16_arithmetic = false;
  uint32_t subgroup_size = 0;        // 0: unknown, or not every subgroup is full
  std::string cooperative_matrices;  // supported fp16 matrix shapes, "KHR 16x16x16"; or "no: " and the reason
  float timestamp_period_ns = 0;     // 0: no GPU timestamps
  uint32_t max_image_dimension_2d = 0, max_image_dimension_3d = 0;
  uint64_t max_storage_buffer_range = 0;
};

// Returns the Vulkan devices of this machine that can compute. Throws Error(no_device) without a Vulkan
// loader.
VELLUM_API std::vector<DeviceInfo> devices();

// Returns the folder for Vellum's caches that the platform's conventions give this user. Empty if the
// environment names none.
VELLUM_API std::filesystem::path default_cache_folder();

struct DeviceOptions {
  // An index of devices(), the text of DeviceInfo::uuid (uuid_text()), or a name or part of one. Empty: a
  // discrete GPU, else an integrated one, else a CPU.
  std::string device;
  // Folder for compiled shaders and pipelines, made if it is missing; empty: nothing is kept on disk.
  std::filesystem::path cache_folder;
  // Enables the Khronos validation layer, with synchronisation validation. Its messages go to `log`.
  bool validation = false;
  // Limits the device to the minimum that Vellum supports (Android Baseline 2022), to test what a phone would
  // do.
  bool android_baseline_2022 = false;
  // Priority from 0 to 1 relative to the other queues of this process on the device.
  float queue_priority = 1;
  // Priority relative to the queues of all processes. `low` lets drawing go first. Needs
  // VK_KHR_global_priority or VK_EXT_global_priority: Error(unsupported) if the device has neither, or if
  // this user may not have that priority.
  GlobalPriority global_priority = GlobalPriority::unspecified;
  // Labels the commands of each layer, also in the application's command buffers, and names pipelines, images
  // and buffers, for debuggers (RenderDoc, Android GPU Inspector). Needs VK_EXT_debug_utils:
  // Error(unsupported) without it. On an adopted device the application's instance must have enabled it.
  // `validation` implies debug_labels.
  bool debug_labels = false;
  // Milliseconds to wait for one submit before the device counts as hanging, which is Error(device_lost).
  // Resources of that submit are kept until the device has finished. 0: no limit.
  uint32_t wait_limit_ms = 60'000;
  // Whether each kernel is checked at its first use on this device. Before the first session that uses a
  // kernel runs anything, it computes a small operator with the kernel and compares the result with the
  // host's. A check takes some milliseconds for each kernel. Results are stored in `cache_folder` by device,
  // driver and version of Vellum. A kernel that fails is replaced by another kernel, other storage or the
  // host, and Session::warnings() names it. Vellum::runtime, which compiles no shaders, uses the check
  // shaders that pack() adds to a bundle; there the host replaces a kernel that fails.
  SelfCheck self_check = SelfCheck::automatic;
  LogCallback log;
};

// Defined in vellum/vulkan.hpp.
struct VulkanPhysicalDevice;
struct VulkanDevice;
struct BufferBinding;
struct NetworkBindings;
struct BufferLayout;
struct SubmitSemaphores;
class DeviceRequirements;
class Recording;
// Defined in vellum/external.hpp.
class HardwareFrames;

// An open device. Copies are handles to the same device, which lives as long as any handle or session.
// Thread-safe: sessions of one device may run on different threads.
class VELLUM_API Device {
 public:
  static Device open(const DeviceOptions& options = {});

  // The next two functions are for applications with a Vulkan device of their own. vellum/vulkan.hpp has the
  // types, docs/embedding.md a program.
  //
  // Returns the extensions, features and queue families that Vellum uses of a physical device; call it before
  // vkCreateDevice(). Throws Error(unsupported) for a device that Vellum cannot use, Error(invalid_argument)
  // for a null handle.
  static DeviceRequirements requirements(const VulkanPhysicalDevice& device);
  // Uses the application's device instead of opening one. Vellum creates no VkInstance and no VkDevice, never
  // destroys the application's, and uses only extensions and features that were enabled; info() shows the
  // result. All handles, sessions, runs and recordings must be destroyed before the application destroys its
  // device. Vellum submits to `compute` (and `transfer`) while it makes or runs a session, within their
  // locks.
  // Throws Error(unsupported), which names what is required and was not enabled. Throws
  // Error(invalid_argument) for a null handle, for a queue of the wrong kind, and for options that only
  // concern opening a device: `device`, `validation` (the application's instance decides), `queue_priority`
  // and `global_priority`. All other options work.
  static Device adopt(const VulkanDevice& device, const DeviceOptions& options = {});

  DeviceInfo info() const;
  // The number of errors and warnings that the validation layer has reported.
  uint64_t validation_messages() const;

  struct Impl;

 private:
  friend struct Handles;
  explicit Device(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace vellum
