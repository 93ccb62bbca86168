// The peak rates of a device, from which the times of dispatches are predicted.
#pragma once

#include <cstdint>

namespace vellum {

// Peak rates of a device, and the fixed costs of a dispatch. An fp16 product counts as one
// multiply-accumulate, even if the device computes several at a time. 0: unknown.
struct DeviceRates {
  double gigamacs_per_s = 0;   // fp32 multiply-accumulates
  double gigabytes_per_s = 0;  // device memory
  uint32_t units = 0;          // each issues the instructions of one subgroup or more at a time
  uint32_t lanes = 0;          // invocations that compute at the same time, in all units together
  double latency_ns = 0;       // of a load that misses the first cache
  double launch_us = 0;        // to start a dispatch
  double barrier_us = 0;       // to drain the device before it, and to make its results visible
};

}  // namespace vellum
