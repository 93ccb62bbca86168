// Faults of particular drivers. No other file tests for a driver.
#pragma once

#include "caps/device_caps.hpp"

namespace vellum {

// Disables features that the driver reports but implements wrongly, and sets limits that it does not report.
void apply_driver_quirks(DeviceCaps& caps);

// Returns whether vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR may crash the process.
bool crashes_in_cooperative_query(const DeviceCaps& caps);

// Returns whether the driver fails after it was unloaded and loaded again a few dozen times.
bool must_stay_loaded(const DeviceCaps& caps);

// Returns whether only one thread may wait for fences at a time.
bool waits_in_turn(const DeviceCaps& caps);

// Returns whether the driver must not be asked for time stamps while its queue runs other submits.
bool queries_race_with_submits(const DeviceCaps& caps);

// Returns the fewest invocations that a workgroup with barriers must have.
uint32_t least_workgroup_with_barriers(const DeviceCaps& caps);

}  // namespace vellum
