// Capabilities of devices of which no more is known than type and vendor.
#pragma once

#include "caps/device_caps.hpp"

namespace vellum::test {

inline DeviceCaps caps_of(DeviceType type, uint32_t vendor = 0) {
  DeviceCaps caps;
  caps.type = type;
  caps.vendor_id = vendor;
  return caps;
}

inline const DeviceCaps kCpu = caps_of(DeviceType::cpu), kGpu = caps_of(DeviceType::discrete_gpu);

}  // namespace vellum::test
