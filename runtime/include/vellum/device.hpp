// Vulkan devices: which there are, and opening one.
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
  uint32_t index = 0;  // in devices()
  DeviceUuid uuid{};
  std::optional<DeviceLuid> luid;         // where the driver reports one, as on Windows
  uint32_t vendor_id = 0, device_id = 0;  // VkPhysicalDeviceProperties
  std::string name;
  std::string type;               // "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
  std::string driver;             // name and version
  std::string api_version;        // "1.3.230"
  std::string preferred_storage;  // the meaning of StorageChoice::automatic
  bool fp16_arithmetic = false;
  uint32_t subgroup_size = 0;        // 0: unknown, or subgroups may have fewer invocations
  std::string cooperative_matrices;  // the supported products of halves, "KHR 16x16x16"; or "no: ..."
  float timestamp_period_ns = 0;     // 0: no GPU timestamps
  uint32_t max_image_dimension_2d = 0, max_image_dimension_3d = 0;
  uint64_t max_storage_buffer_range = 0;
};

// Returns the Vulkan devices of this machine that can compute. Throws Error(no_device) without a Vulkan
// loader.
VELLUM_API std::vector<DeviceInfo> devices();

// Returns the user's folder for Vellum's caches by the platform's convention; empty if the environment has
// none.
VELLUM_API std::filesystem::path default_cache_folder();

struct DeviceOptions {
  // A number as devices() counts, uuid_text(DeviceInfo::uuid), or (part of) a name. Empty: a discrete GPU,
  // else an integrated one, else a CPU.
  std::string device;
  // Folder for compiled shaders and pipelines, made if it is missing; empty: nothing is kept on disk.
  std::filesystem::path cache_folder;
  // The Khronos validation layer, synchronisation validation included; its messages go to `log`.
  bool validation = false;
  // Behave as on the least device that Vellum supports (Android Baseline 2022): to test what a phone would
  // do.
  bool android_baseline_2022 = false;
  // From 0 to 1, relative to the other queues that the process has on the device.
  float queue_priority = 1;
  // Relative to the queues of all processes, for devices with VK_KHR_global_priority or
  // VK_EXT_global_priority: `low` leaves the device to what is drawn. Error(unsupported) if the device has
  // neither, or lets this user have no such priority.
  GlobalPriority global_priority = GlobalPriority::unspecified;
  // For debuggers (RenderDoc, Android GPU Inspector): labels around the commands of each layer, also in
  // command buffers of the application's, and names of pipelines, images and buffers. Needs
  // VK_EXT_debug_utils: Error(unsupported) without it; on an adopted device the application's instance must
  // have enabled it. With `validation` they are always there.
  bool debug_labels = false;
  // Milliseconds to wait for one submit before the device counts as hanging: Error(device_lost). What the
  // submit uses is kept until the device has finished. 0: no limit.
  uint32_t wait_limit_ms = 60'000;
  // The first session that uses a kernel on this device computes a small operator with it and compares the
  // result with the host's, before it runs anything: some milliseconds for each kernel, remembered in
  // `cache_folder` by device, driver and Vellum's version. A kernel that is wrong is not used: another one,
  // other storage or the host takes its place, and Session::warnings() names it. A library that compiles no
  // shaders (Vellum::runtime) checks none, but heeds what the folder remembers; `on`: Error(unsupported)
  // there.
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

  // For applications with a Vulkan device of their own; vellum/vulkan.hpp has the types, docs/embedding.md a
  // program.
  //
  // Returns what Vellum would use of a physical device, before the application makes its device. Throws
  // Error(unsupported) for a device that Vellum cannot use, Error(invalid_argument) for a null handle.
  static DeviceRequirements requirements(const VulkanPhysicalDevice& device);
  // Uses the application's device instead of opening one. Vellum makes no instance and no device, never
  // destroys the application's, and uses only what was enabled; info() shows what that leaves. All handles,
  // sessions, runs and recordings must be gone before the application destroys the device. While it makes or
  // runs a session, Vellum submits to `compute` (and `transfer`), within their locks. Throws
  // Error(unsupported) naming what is required and was not enabled, Error(invalid_argument) for a null
  // handle, for a queue of the wrong kind, and for options that say which device to open, or how: `device`,
  // `validation` (the application's instance decides), `queue_priority` and `global_priority`.
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
