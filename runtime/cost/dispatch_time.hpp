// Predicts how long a dispatch takes on a device:
//
//   total = max(compute, memory, latency + compute / waves) + overhead
//
//   compute   multiply-accumulates at the rate of the units that have a subgroup to run
//   memory    bytes at the device's bandwidth
//   latency   the dependent loads of one invocation, for each round of subgroups that the device holds at a
//             time
//   waves     the subgroups among which a unit switches; a subgroup that is alone on its unit computes only
//             between its loads
//   overhead  the launch of the dispatch, and the barrier before it
//
// DeviceRates are published or assumed, not measured. Predictions order kernels; they replace no measurement.
#pragma once

#include <cstdint>

#include "vellum/device_rates.hpp"

namespace vellum {

// Dependent loads of an invocation outside of its loop: the parameters, the first texels and the bias.
inline constexpr double kStepsAround = 3;
// Steps that split-K adds: a workgroup writes its partial sums to shared memory, waits, and reads them.
inline constexpr double kStepsToReduce = 1;

struct DispatchFigures {
  double macs = 0, bytes = 0;
  double subgroups = 0;  // 0: unknown; all units are assumed to be busy
  uint32_t subgroup_size = 0;
  double steps = 1;       // dependent loads of an invocation; loads that are issued together count once
  double last_steps = 0;  // dependent loads of the last workgroup, which runs after all others
  double resident = 0;    // subgroups that a unit holds at a time; 0: unknown
  bool barrier = true;
};

struct DispatchTime {
  double compute_us = 0;  // with all units busy, at the peak rate
  double memory_us = 0, latency_us = 0, overhead_us = 0;
  double busy = 1;   // share of the units' time that has a subgroup to run
  double waves = 1;  // subgroups among which a unit switches to hide their latencies

  // Returns the predicted microseconds. `efficiency`: the share of the peak rate that the kernel's machine
  // code reaches.
  double total_us(double efficiency) const;
};

// Returns the terms of the prediction. A rate of 0 is unknown, and its term is 0.
DispatchTime dispatch_time(const DeviceRates& rates, const DispatchFigures& dispatch);

}  // namespace vellum
