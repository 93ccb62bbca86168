#include "vulkan/kept_instance.hpp"

#include <algorithm>
#include <mutex>

#include "caps/driver_quirks.hpp"
#include "vulkan/instance.hpp"

namespace vellum::gpu {

void keep_drivers_loaded(const std::vector<PhysicalDevice>& devices, const ContextOptions& options) {
  const auto must_stay = [](const PhysicalDevice& device) { return must_stay_loaded(device.caps); };
  if (options.get_instance_proc_addr || std::ranges::none_of(devices, must_stay)) return;
  // The driver is of the process, and so is what keeps it there. Never destroyed: not even by a static
  // destructor, when the driver may be gone already.
  static std::once_flag once;
  std::call_once(once, [] {
    static ValidationLog no_log;
    static const auto* kept = new Instance(ContextOptions(), no_log);
    static_cast<void>(kept);
  });
}

}  // namespace vellum::gpu
