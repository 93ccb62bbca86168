// The device policies that there are. Included by this folder alone.
#pragma once

#include "cost/device_policy.hpp"

namespace vellum {

const DevicePolicy& cpu_policy();
const DevicePolicy& gpu_policy();

}  // namespace vellum
