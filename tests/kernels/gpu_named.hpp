// Kernels that only GPUs take, on the driver of the tests.
#pragma once

#include "caps/device_caps.hpp"
#include "support/gpu_test.hpp"

namespace vellum::test {

// Returns the caps of the test's device under the name of a GPU, whose policy and rates are then used.
inline DeviceCaps gpu_named(const char* name) {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  caps.name = name;
  return caps;
}

}  // namespace vellum::test
