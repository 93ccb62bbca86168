#include "caps/device_policy.hpp"

#include "caps/policies.hpp"

namespace vellum {

const DevicePolicy& device_policy(const DeviceCaps& caps) {
  return caps.type == DeviceType::cpu ? cpu_policy() : gpu_policy();
}

}  // namespace vellum
