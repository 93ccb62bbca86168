// Predicts how long a dispatch takes on a device: the longest of three times, which overlap, and what comes
// before it.
//
//   compute  multiply-accumulates at the rate of the units that have a subgroup to run
//   memory   bytes at the device's rate
//   latency  the loads that wait for one another in one invocation, for each round of subgroups that the
//            device holds at a time; a subgroup that is alone on its unit computes between them
//   overhead the launch of the dispatch, and the barrier before it
//
// DeviceRates are published or assumed, not measured: predictions order kernels, they replace no measurement.
#pragma once

#include <cstdint>

#include "vellum/device_rates.hpp"

namespace vellum {

// Loads of an invocation that wait for one another around its loop: what it computes, the first texels, the
// bias.
inline constexpr double kStepsAround = 3;
// Steps where a workgroup shares sums (split-K): it writes, waits for and reads them in shared memory.
inline constexpr double kStepsToReduce = 1;

struct DispatchFigures {
  double macs = 0, bytes = 0;
  double subgroups = 0;  // 0: unknown; the device is taken to be full
  uint32_t subgroup_size = 0;
  double steps = 1;       // loads, or groups of them issued together, that wait for one another
  double last_steps = 0;  // those of one workgroup alone after all others
  double resident = 0;    // subgroups that a unit holds at a time; 0: unknown
  bool barrier = true;
};

struct DispatchTime {
  double compute_us = 0;  // with all units busy, at the peak rate
  double memory_us = 0, latency_us = 0, overhead_us = 0;
  double busy = 1;   // share of the units' time that has a subgroup to run
  double waves = 1;  // subgroups among which a unit switches to hide their latencies

  // `efficiency`: multiply-accumulates that the kernel's machine code does in the time of one at the peak
  // rate.
  double total_us(double efficiency) const;
};

// A rate that is 0 takes no time.
DispatchTime dispatch_time(const DeviceRates& rates, const DispatchFigures& dispatch);

}  // namespace vellum
