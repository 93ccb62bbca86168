// Subgroups: their size, the number that keeps a device busy, and loads of one address by all invocations.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

// Invocations of a workgroup with UNIFORM_SLICES: each computes one block of pixels of the same slices.
inline constexpr int64_t kUniformRow = 64;

// Returns the subgroup size; 32 if the device does not report it.
uint32_t subgroup_size(const DeviceCaps& caps);

// Returns the subgroup size of a kernel with many registers.
uint32_t subgroup_of_large_kernels(const DeviceCaps& caps);

// Returns the number of invocations that keep the device busy; 0: any number does.
int64_t invocations_to_fill(const DeviceCaps& caps);

// Returns whether all invocations of a workgroup should compute the same output channels, because a load of
// one address by a whole workgroup is cheaper than other loads. With split_k > 1 the load is one of a
// subgroup, whose invocations sum the same share of the products.
bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k);

}  // namespace vellum
