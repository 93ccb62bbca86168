// What the performance model (caps/dispatch_time.hpp) knows of a dispatch before any driver has compiled it.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/dispatch_time.hpp"
#include "plan/synchronisation.hpp"
#include "program/program.hpp"

namespace vellum {

struct DispatchModel {
  // Without subgroups, which depend on what the driver makes of the shader.
  DispatchFigures figures;
  double efficiency = 1;  // of DispatchTime::total_us()
  uint64_t invocations = 0, bytes = 0;
};

// barrier: whether one is recorded before the dispatch.
DispatchModel dispatch_model(const Program& program, const Dispatch& dispatch, bool barrier,
                             uint32_t vendor_id);

// Returns the subgroups of a dispatch on a device whose subgroups have so many invocations.
uint64_t subgroups_of(const Dispatch& dispatch, uint32_t subgroup_size);

// Returns the predicted time of each task on a device of these rates in milliseconds; 0 for host partitions.
std::vector<double> predicted_milliseconds(const Program& program, const std::vector<TaskSync>& barriers,
                                           const DeviceCaps& caps);

}  // namespace vellum
