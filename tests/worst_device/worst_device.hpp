// A driver that does what the specification allows and drivers for CPUs never do. VELLUM_TEST_WORST_DEVICE
// names the allowances (parse_allowances()); without it nothing changes.
#pragma once

#include <vulkan/vulkan_core.h>

#include "caps/device_caps.hpp"
#include "vulkan/context.hpp"
#include "worst_device/pessimise.hpp"

namespace vellum::test {

// Returns the allowances that VELLUM_TEST_WORST_DEVICE names now.
Allowances worst_device_allowances();

// For ContextOptions::get_instance_proc_addr; null if the environment asks for no allowances.
// The allowances hold for all devices of the process from now on. Findings of the device's shaders fail the
// test in which they occur (findings.hpp).
PFN_vkGetInstanceProcAddr worst_device_functions();

// Fails the test for each finding so far. It is called at the end of each test.
void fail_on_findings();

// Makes the options those of the worst device: its functions, its memory, and its caps after
// options.adjust_caps. Without allowances nothing changes.
void use_worst_device(gpu::ContextOptions& options);

}  // namespace vellum::test
