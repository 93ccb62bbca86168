#include "open_devices.hpp"

#include <utility>

#include "api/impl.hpp"

namespace vellum::plugin {

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

}  // namespace vellum::plugin
