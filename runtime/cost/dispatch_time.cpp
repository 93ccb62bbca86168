#include "cost/dispatch_time.hpp"

#include <algorithm>
#include <cmath>

namespace vellum {
namespace {

// Resident subgroups of a unit if they are unknown: as many as common GPUs hold of kernels with 64 registers.
constexpr double kResident = 8;

// Returns the microseconds that `amount` takes at `giga_per_s` * 1e9 in a second.
double microseconds(double amount, double giga_per_s) {
  return giga_per_s > 0 ? amount / (1e3 * giga_per_s) : 0;
}

}  // namespace

double DispatchTime::total_us(double efficiency) const {
  const double compute = compute_us / busy / efficiency;
  return std::max({compute, memory_us, latency_us + compute / waves}) + overhead_us;
}

DispatchTime dispatch_time(const DeviceRates& rates, const DispatchFigures& dispatch) {
  DispatchTime time;
  time.compute_us = microseconds(dispatch.macs, rates.gigamacs_per_s);
  time.memory_us = microseconds(dispatch.bytes, rates.gigabytes_per_s);
  time.overhead_us = rates.launch_us + (dispatch.barrier ? rates.barrier_us : 0);
  time.latency_us = 1e-3 * dispatch.steps * rates.latency_ns;
  const double last_us = 1e-3 * dispatch.last_steps * rates.latency_ns;
  if (dispatch.subgroups == 0 || rates.units == 0) {
    time.latency_us += last_us;
    return time;
  }
  // A subgroup runs on one unit. A unit that is wider than a subgroup runs several at a time.
  const double lanes = dispatch.subgroup_size > 0 ? rates.lanes / dispatch.subgroup_size : 0;
  const double at_once = std::max<double>(rates.units, lanes);
  time.busy = dispatch.subgroups / (std::ceil(dispatch.subgroups / at_once) * at_once);
  const double held =
      std::max(at_once, rates.units * (dispatch.resident > 0 ? dispatch.resident : kResident));
  time.latency_us = time.latency_us * std::max(1.0, dispatch.subgroups / held) + last_us;
  time.waves = std::max(1.0, std::min(dispatch.subgroups, held) / at_once);
  return time;
}

}  // namespace vellum
