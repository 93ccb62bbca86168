#include "cost/subgroups.hpp"

#include <algorithm>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"

namespace vellum {

uint32_t subgroup_size(const DeviceCaps& caps) { return caps.subgroup_size > 0 ? caps.subgroup_size : 32; }

uint32_t subgroup_of_large_kernels(const DeviceCaps& caps) {
  return static_cast<uint32_t>(
      std::min<int64_t>(subgroup_size(caps), device_traits(caps).most_lanes_of_large_kernels));
}

int64_t invocations_to_fill(const DeviceCaps& caps) {
  return device_traits(caps).subgroups_to_fill_a_unit * device_rates(caps).units * subgroup_size(caps);
}

// If a workgroup loads from one address, AMD's compiler emits scalar loads, and Intel's half as many loads.
// The compilers of Adreno and NVIDIA (Mesa's NVK) load for each lane and compute more addresses
// (docs/gpu_compilers.md).
//
// With split-K, all invocations of a subgroup sum the same share if the pipeline requires full subgroups of
// one size. This requirement is known to cost nothing only with AMD's compiler. Intel's compiler would have
// to use the largest subgroup size, which spills.
bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k) {
  const DeviceTraits& traits = device_traits(caps);
  if (!traits.uniform_loads_are_cheap) return false;
  if (split_k == 1) return true;
  constexpr int64_t kMostSubgroups = 32;  // of a workgroup; AMD's GPUs hold 1024 invocations in 16 or 32
  return traits.uniform_split_loads_are_cheap && caps.full_subgroups &&
         kUniformRow % subgroup_size(caps) == 0 &&
         kUniformRow * split_k <= kMostSubgroups * subgroup_size(caps) &&
         kUniformRow * split_k <= caps.max_workgroup_invocations && split_k <= caps.max_workgroup_size[1];
}

}  // namespace vellum
