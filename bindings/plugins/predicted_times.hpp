// Predicts whether a part of a network takes less time on the device, transfers included, than with the other
// runtime.
#pragma once

#include <map>
#include <string>

#include "caps/device_caps.hpp"
#include "compile/compile.hpp"

namespace vellum::plugin {

struct PredictedTimes {
  double device_us = 0;  // on the device, with transfers
  double host_us = 0;    // with the other runtime's CPU kernels; a rough estimate
};

PredictedTimes predict_times(const CompiledModel& compiled, const DeviceCaps& caps);
// "predicted to take 90 us on the device and 20 us with the runtime"
std::string describe(const PredictedTimes& times);

size_t count_dispatches(const CompiledModel& compiled);
// Returns the nodes that Vellum would run on the host, with the reason. The other runtime's kernels are
// faster on the host.
std::map<std::string, std::string> nodes_without_kernel(const CompiledModel& compiled);

}  // namespace vellum::plugin
