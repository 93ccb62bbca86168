#include "caps/device_policy.hpp"

#include <algorithm>

#include "caps/policies.hpp"

namespace vellum {

int64_t SeparableTile::shared_bytes(const SeparableDemand& demand) const {
  // In steps of 4 KiB, so that layers of nearly as many channels share a pipeline.
  constexpr int64_t kSumBytes = 16, kStep = 4 << 10;
  const int64_t sums = split_k > 1 ? kSumBytes * invocations() * tile.pixels * tile.slices : 0;
  return (std::max(demand.texel_bytes * demand.inputs * pixels(), sums) + kStep - 1) / kStep * kStep;
}

const DevicePolicy& device_policy(const DeviceCaps& caps) {
  return caps.type == DeviceType::cpu ? cpu_policy() : gpu_policy();
}

}  // namespace vellum
