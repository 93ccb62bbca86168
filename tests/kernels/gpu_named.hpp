// Kernels that only GPUs take, on the driver of the tests.
#pragma once

#include "caps/device_caps.hpp"
#include "caps/vendors.hpp"
#include "support/gpu_test.hpp"

namespace vellum::test {

// Returns the caps of the test's device under the name of a GPU, whose traits and rates are then used.
inline DeviceCaps gpu_named(const char* name) {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = 0;
  caps.name = name;
  return caps;
}

// Likewise one of Qualcomm's, "Adreno (TM) 660", for which kernels are others than for those of unknown
// vendors.
inline DeviceCaps adreno_named(const char* name) {
  DeviceCaps caps = gpu_named(name);
  caps.vendor_id = kQualcomm;
  caps.cooperative_matrices.clear();
  return caps;
}
// Units of 660 hold as few subgroups as they run, those of 618 and 740 more.
inline constexpr const char* kAdrenos[] = {"Adreno (TM) 660", "Adreno (TM) 740", "Adreno (TM) 618"};

}  // namespace vellum::test
