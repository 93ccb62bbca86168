// Subgroups: how many invocations they have, how many keep a device busy, and the loads that they share.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

// Invocations of a workgroup that compute one block of pixels each, of the same slices (UNIFORM_SLICES).
inline constexpr int64_t kUniformRow = 64;

// Returns the device's size of subgroups, 32 if it does not report one.
uint32_t subgroup_size(const DeviceCaps& caps);
// Returns the size of subgroups of a kernel with many registers.
uint32_t subgroup_of_large_kernels(const DeviceCaps& caps);

// Returns the invocations that keep the device busy; 0: any number does.
int64_t invocations_to_fill(const DeviceCaps& caps);

// Whether loads from one place of a buffer for a whole workgroup are cheaper, so that all its invocations
// should compute the same output channels. With split_k > 1: for a whole subgroup, whose invocations have the
// same part of the sums.
bool loads_uniform_weights_cheaply(const DeviceCaps& caps, int64_t split_k);

}  // namespace vellum
