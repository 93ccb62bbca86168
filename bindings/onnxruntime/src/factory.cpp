// The entry points of the plug-in, and what the runtime asks before it makes a session.
#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bindings/plugins/open_devices.hpp"
#include "data_transfer.hpp"
#include "device_memory.hpp"
#include "options.hpp"
#include "provider.hpp"
#include "runtime_api.hpp"

#ifdef _WIN32
#define VELLUM_PLUGIN extern "C" __declspec(dllexport)
#else
#define VELLUM_PLUGIN extern "C" __attribute__((visibility("default")))
#endif

namespace vellum::ort {
namespace {

class Factory : public OrtEpFactory {
 public:
  Factory() : OrtEpFactory{} {
    ort_version_supported = kApiVersion;
    OrtEpFactory::GetName = [](const OrtEpFactory*) noexcept { return kProviderName; };
    OrtEpFactory::GetVendor = [](const OrtEpFactory*) noexcept { return "Vellum"; };
    OrtEpFactory::GetVendorId = [](const OrtEpFactory*) noexcept { return uint32_t{0}; };
    OrtEpFactory::GetVersion = [](const OrtEpFactory*) noexcept { return VELLUM_ONNXRUNTIME_VERSION; };
    OrtEpFactory::GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware,
                                           size_t count, OrtEpDevice** found, size_t most,
                                           size_t* found_count) noexcept -> OrtStatus* {
      return guarded([&] {
        *found_count = 0;
        static_cast<Factory*>(self)->find_devices({hardware, count}, {found, most}, *found_count);
      });
    };
    OrtEpFactory::CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const* hardware,
                                const OrtKeyValuePairs* const*, size_t count,
                                const OrtSessionOptions* options, const OrtLogger* logger,
                                OrtEp** provider) noexcept -> OrtStatus* {
      *provider = nullptr;
      return guarded([&] {
        ProviderOptions own = read_options(*options);
        if (own.device.device.empty() && count > 0) own.device.device = vulkan_device(*hardware[0]);
        *provider = make_provider(plugin::OpenDevices::of_process().open(own.device), own, logger);
      });
    };
    OrtEpFactory::ReleaseEp = [](OrtEpFactory*, OrtEp* provider) noexcept { release_provider(provider); };
    OrtEpFactory::CreateAllocator = [](OrtEpFactory* self, const OrtMemoryInfo* info, const OrtKeyValuePairs*,
                                       OrtAllocator** allocator) noexcept -> OrtStatus* {
      *allocator = nullptr;
      return guarded([&] { *allocator = static_cast<Factory*>(self)->make_allocator(*info); });
    };
    OrtEpFactory::ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) noexcept {
      release_device_allocator(allocator);
    };
    OrtEpFactory::CreateDataTransfer = [](OrtEpFactory* self,
                                          OrtDataTransferImpl** transfer) noexcept -> OrtStatus* {
      *transfer = nullptr;
      return guarded([&] {
        *transfer =
            make_data_transfer([factory = static_cast<Factory*>(self)](const OrtMemoryDevice& memory) {
              return factory->is_own(memory);
            });
      });
    };
    OrtEpFactory::IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
    OrtEpFactory::CreateSyncStreamForDevice = [](OrtEpFactory*, const OrtMemoryDevice*,
                                                 const OrtKeyValuePairs*,
                                                 OrtSyncStreamImpl** stream) noexcept -> OrtStatus* {
      *stream = nullptr;
      return nullptr;
    };
  }

 private:
  static std::vector<DeviceInfo> vulkan_devices() {
    try {
      return vellum::devices();
    } catch (const Error&) {
      return {};  // no loader: the runtime goes on without this provider
    }
  }

  // Returns the UUID of the GPU; empty for a processor, so that Vellum chooses.
  static std::string vulkan_device(const OrtHardwareDevice& hardware) {
    if (api().HardwareDevice_Type(&hardware) != OrtHardwareDeviceType_GPU) return {};
    for (const DeviceInfo& device : vulkan_devices())
      if (device.vendor_id == api().HardwareDevice_VendorId(&hardware) &&
          device.device_id == api().HardwareDevice_DeviceId(&hardware))
        return uuid_text(device.uuid);
    return {};
  }

  void add_device(const OrtHardwareDevice& hardware, std::span<OrtEpDevice*> found, size_t& count) {
    if (count == found.size()) return;
    check(ep_api().CreateEpDevice(this, &hardware, nullptr, nullptr, &found[count]));
    check(ep_api().EpDevice_AddAllocatorInfo(found[count], &add_memory(hardware)));
    ++count;
  }

  // Describes the memory that the host and this GPU share, for applications that bind tensors in it. There is
  // none of the device's own memory: with that the runtime would copy all inputs and outputs of claimed
  // parts, where Vellum does it in the submit of the run. Each registration has its own description, because
  // the runtime drops the allocator of one that it is given twice.
  const OrtMemoryInfo& add_memory(const OrtHardwareDevice& hardware) {
    const std::lock_guard lock(mutex_);
    const auto number = static_cast<int32_t>(memory_.size());
    memory_.push_back(
        {vulkan_device(hardware),
         get<OrtMemoryInfo*>(api().CreateMemoryInfo_V2, "VellumHostAccessible", OrtMemoryInfoDeviceType_GPU,
                             api().HardwareDevice_VendorId(&hardware), number,
                             OrtDeviceMemoryType_HOST_ACCESSIBLE, size_t{256}, OrtDeviceAllocator)});
    return *memory_.back().info;
  }

  OrtAllocator* make_allocator(const OrtMemoryInfo& wanted) {
    const std::lock_guard lock(mutex_);
    for (const Memory& memory : memory_) {
      int differs = 1;
      check(api().CompareMemoryInfo(memory.info, &wanted, &differs));
      if (differs == 0)
        return make_device_allocator(
            memory.info, [uuid = memory.uuid] { return plugin::OpenDevices::of_process().open_any(uuid); });
    }
    throw Error(ErrorCode::invalid_argument, "there is no such memory");
  }

  // GPUs that Vulkan has, too. Where the runtime sees none of them (in containers, or without a GPU), the
  // provider attaches to the processor, and the option `device` chooses.
  void find_devices(std::span<const OrtHardwareDevice* const> hardware, std::span<OrtEpDevice*> found,
                    size_t& count) {
    if (vulkan_devices().empty()) return;
    for (const OrtHardwareDevice* device : hardware)
      if (!vulkan_device(*device).empty()) add_device(*device, found, count);
    if (count > 0) return;
    for (const OrtHardwareDevice* device : hardware)
      if (api().HardwareDevice_Type(device) == OrtHardwareDeviceType_CPU && count == 0)
        add_device(*device, found, count);
  }

  bool is_own(const OrtMemoryDevice& device) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(memory_, [&](const Memory& memory) {
      return ep_api().MemoryDevice_AreEqual(ep_api().MemoryInfo_GetMemoryDevice(memory.info), &device);
    });
  }

  struct Memory {
    std::string uuid;     // of the Vulkan device; empty: the one that sessions use
    OrtMemoryInfo* info;  // never freed, as the factory
  };

  std::mutex mutex_;  // of memory_
  std::vector<Memory> memory_;
};

// All registrations share one factory, which is never freed: the runtime calls it for sessions that outlive
// their registration. The linker option `nodelete` keeps the library in memory for the same reason.
Factory& the_factory() {
  static auto* const factory = new Factory;
  return *factory;
}

}  // namespace
}  // namespace vellum::ort

VELLUM_PLUGIN OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*,
                                           OrtEpFactory** factories, size_t most, size_t* count) noexcept {
  using namespace vellum::ort;
  *count = 0;
  try {
    set_api(*base);
  } catch (const vellum::Error& error) {
    // The functions of the oldest interface with which a status can be made.
    const OrtApi* oldest = base->GetApi(1);
    return oldest ? oldest->CreateStatus(ORT_NOT_IMPLEMENTED, error.what()) : nullptr;
  }
  if (most < 1) return api().CreateStatus(ORT_INVALID_ARGUMENT, "Vellum: there is no room for a factory");
  return guarded([&] {
    factories[0] = &the_factory();
    *count = 1;
  });
}

VELLUM_PLUGIN OrtStatus* ReleaseEpFactory(OrtEpFactory*) noexcept { return nullptr; }
