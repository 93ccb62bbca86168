// A Vulkan device opened for compute: instance, device, queues, and the objects that all its sessions share.
//
// The headers of this folder use Vulkan's C handles. Only .cpp files use Vulkan-Hpp (context_impl.hpp),
// because including vulkan_hpp.hpp costs seconds for each file.
#pragma once

#include <vulkan/vulkan_core.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "vellum/device_id.hpp"
#include "vellum/log.hpp"
#include "vellum/options.hpp"
#include "vulkan/memory_statistics.hpp"

namespace vellum {
struct VulkanDevice;
}

namespace vellum::gpu {

class CrashMarks;
class PipelineRegistry;

// transfer: copies that overlap with compute work, on the device's transfer queue if it has one, else on the
// compute queue.
enum class QueueKind : uint8_t { compute, transfer };

// How to open a device.
struct ContextOptions {
  // An index of list_devices(), uuid_text() of a UUID, or a name or part of one, case-insensitive. Empty: the
  // first discrete GPU, else integrated GPU, else virtual GPU, else CPU.
  std::string device;
  // Enables the validation layer with synchronisation validation; its messages go to `log` and are counted.
  bool validation = false;
  LogCallback log;
  // The source of Vulkan's functions; null: the system's loader, opened at run time.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
  // The folder of SPIR-V and pipeline caches; empty: nothing is stored on disk.
  std::filesystem::path cache_folder;
  // Priority of the queues, from 0 to 1 (VkDeviceQueueCreateInfo).
  float queue_priority = 1;
  // Other values than `unspecified` are Error(unsupported) if the device lacks them.
  GlobalPriority global_priority = GlobalPriority::unspecified;
  // Labels of commands and names of objects (VK_EXT_debug_utils). `validation` implies it.
  bool debug_labels = false;
  // Changes the caps that Vellum assumes of the device, e.g. clamp_to_android_baseline_2022. It may only
  // lower them.
  std::function<DeviceCaps(const DeviceCaps&)> adjust_caps;
  // Fills the memory of each tensor before its first write (exec/poison.hpp), to find kernels that read what
  // nothing wrote.
  bool poison_memory = false;
  // The time limit of one submit, after which the device counts as hanging.
  std::chrono::nanoseconds wait_limit = std::chrono::seconds(60);
};

// Returns whether this process has ever created a Vulkan instance, so that code and data of drivers may be in
// its memory.
bool has_used_vulkan();

// The prefix of the validation layer's messages in the log.
inline constexpr const char* kValidationPrefix = "Vulkan validation: ";

struct ValidationCounts {
  uint64_t errors = 0, warnings = 0;
};

struct DeviceIdentity {
  uint32_t index = 0;  // position in list_devices()
  DeviceUuid uuid{};
  std::optional<DeviceLuid> luid;  // if the driver reports one; drivers on Windows do
};

struct ListedDevice {
  DeviceCaps caps;
  DeviceIdentity identity;
};

// Returns the devices with Vulkan 1.1 and a compute queue, in the driver's order. Empty if there is a loader
// but no driver. Throws Error(no_device) without a loader.
std::vector<ListedDevice> list_devices(const ContextOptions& options = {});

// Thread-safe. Everything made from a Context keeps it alive.
class Context : public std::enable_shared_from_this<Context> {
 public:
  // Opens a device. Throws Error(no_device) without a loader, a driver, the named device (the message lists
  // those that exist) or the validation layer.
  static std::shared_ptr<Context> create(const ContextOptions& options = {});
  // Uses the application's device, see describe_adopted(). Options that only concern opening a device have no
  // effect.
  static std::shared_ptr<Context> adopt(const VulkanDevice& device, const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceCaps& caps() const;
  const DeviceIdentity& identity() const;
  bool is_adopted() const;  // the device is the application's
  // The caps as the device reports them, before adjust_caps.
  const DeviceCaps& device_caps() const;
  const ContextOptions& options() const;
  // Returns whether the device has a graphics queue, so that it may serve a display.
  bool draws() const;
  // Returns whether copies use a separate queue. Resources that it copies must be shared between queues, see
  // Sharing.
  bool has_transfer_queue() const;
  PipelineRegistry& pipelines();
  // The calls that the driver did not survive before.
  CrashMarks& crash_marks() const;
  MemoryStatistics memory_statistics() const;
  // Resets the peaks to the bytes that are allocated now.
  void reset_memory_peaks();
  ValidationCounts validation_messages() const;
  void log(LogLevel level, std::string_view message) const;
  bool has_debug_labels() const;
  // Names an object for debuggers, with debug labels.
  void name_object(VkObjectType type, uint64_t handle, const std::string& name) const;
  // Waits for all submitted work.
  void wait_idle();

  struct Impl;  // context_impl.hpp: Vulkan-Hpp's objects
  Impl& impl() const { return *impl_; }

 private:
  Context(const ContextOptions& options, const VulkanDevice* adopted);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum::gpu
