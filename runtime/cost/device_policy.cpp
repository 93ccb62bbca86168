#include "cost/device_policy.hpp"

#include <algorithm>

#include "cost/policies.hpp"

namespace vellum {

int64_t SeparableTile::shared_bytes(const SeparableDemand& demand) const {
  // In steps of 4 KiB, so that layers of nearly as many channels share a pipeline.
  constexpr int64_t kSumBytes = 16, kStep = 4 << 10;
  const int64_t sums = split_k > 1 ? kSumBytes * invocations() * tile.pixels * tile.slices : 0;
  return (std::max(demand.texel_bytes * demand.inputs * pixels(), sums) + kStep - 1) / kStep * kStep;
}

int64_t ExpandTile::covered(const ExpandDemand& demand) const {
  const int64_t columns = std::min((width - 1) * demand.stride_x + demand.kernel, demand.x_width);
  const int64_t rows = std::min((height - 1) * demand.stride_y + demand.kernel, demand.x_height);
  return columns * rows;
}

int64_t ExpandTile::capacity(const ExpandDemand& demand) const {
  constexpr int64_t kStep = 64;  // likewise
  return (covered(demand) + kStep - 1) / kStep * kStep;
}

int64_t ExpandTile::shared_bytes(const ExpandDemand& demand) const {
  return demand.texel_bytes * capacity(demand) * tile.slices;
}

const DevicePolicy& device_policy(const DeviceCaps& caps) {
  return caps.type == DeviceType::cpu ? cpu_policy() : gpu_policy();
}

}  // namespace vellum
