// The inputs of the performance model (cost/dispatch_time.hpp) for a dispatch that no driver has compiled
// yet.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "plan/synchronisation.hpp"
#include "program/program.hpp"

namespace vellum {

// What the performance model needs to know about a dispatch.
struct DispatchModel {
  // The number of subgroups is not set, because it depends on the compiled shader.
  DispatchFigures figures;
  double efficiency = 1;  // for DispatchTime::total_us()
  uint64_t invocations = 0, bytes = 0;
};

// barrier: whether a barrier is recorded before the dispatch. share_of_x: the share, from 0 to 1, of the
// bytes of the shader's tensor x that it reads.
DispatchModel dispatch_model(const Program& program, const Dispatch& dispatch, bool barrier,
                             const DeviceTraits& traits, double share_of_x = 1);

// Returns the subgroups of a dispatch on a device with subgroups of this size.
uint64_t subgroups_of(const Dispatch& dispatch, uint32_t subgroup_size);

struct PredictedDispatch {
  DispatchModel model;
  DispatchTime time;
  double total_us = 0;
};

// Predicts the time of a dispatch on a device of these caps and rates. A copy by vkCmdCopyBuffer is the sum
// of its overhead_us and memory_us. The parameters are those of dispatch_model().
PredictedDispatch predicted_dispatch(const Program& program, const Dispatch& dispatch, bool barrier,
                                     const DeviceCaps& caps, const DeviceRates& rates, double share_of_x = 1);

// Returns the predicted time of each task on a device of these caps in milliseconds; 0 for host partitions.
// shares_of_x: per task, see dispatch_model(); empty: all read the whole of x.
std::vector<double> predicted_milliseconds(const Program& program, const std::vector<TaskSync>& barriers,
                                           const DeviceCaps& caps,
                                           const std::vector<double>& shares_of_x = {});

// The predicted time of a copy and the barrier before it, in milliseconds.
struct CopyTime {
  double launch = 0, per_byte = 0;  // per_byte: the time to read and write one byte

  double of(uint64_t bytes) const { return launch + static_cast<double>(bytes) * per_byte; }
};
// The time of a copy by a shader. Its launch time is that of every dispatch.
CopyTime shader_copy_time(const DeviceCaps& caps);
// The time of a copy between buffers, by vkCmdCopyBuffer if the device prefers it (buffer_copies.hpp).
CopyTime buffer_copy_time(const DeviceCaps& caps);

}  // namespace vellum
