#include "open_devices.hpp"

#include <utility>

#include "api/impl.hpp"
#include "plugin_options.hpp"

namespace vellum::plugin {

OpenDevices& OpenDevices::of_process() {
  static auto* const devices = new OpenDevices;
  return *devices;
}

Device OpenDevices::open(const DeviceOptions& options) {
  const std::lock_guard lock(mutex_);
  if (!process_) process_.emplace();
  process_->check();
  auto& known = devices_[{options.device, options.cache_folder, options.self_check}];
  if (auto open = known.lock()) return Handles::device(std::move(open));
  const Device device = Device::open(options);
  known = impl(device);
  return device;
}

Device OpenDevices::open_any(const std::string& uuid) {
  {
    const std::lock_guard lock(mutex_);
    if (process_) process_->check();
    for (const auto& [options, known] : devices_)
      if (auto open = known.lock()) {
        Device device = Handles::device(std::move(open));
        if (uuid.empty() || uuid_text(device.info().uuid) == uuid) return device;
      }
  }
  DeviceOptions options = parse_options({}).device;
  options.device = uuid;
  return open(options);
}

void OpenDevices::forget(const Device& lost) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [&](const auto& known) { return known.second.lock() == impl(lost); });
}

}  // namespace vellum::plugin
