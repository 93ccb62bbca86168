// A driver that does what the specification allows and drivers for CPUs never do. VELLUM_TEST_WORST_DEVICE
// names the allowances (parse_allowances()); without it nothing changes.
#pragma once

#include <vulkan/vulkan_core.h>

namespace vellum::test {

// For ContextOptions::get_instance_proc_addr; null if the environment asks for no allowances.
// The allowances hold for all devices of the process from now on.
PFN_vkGetInstanceProcAddr worst_device_functions();

}  // namespace vellum::test
