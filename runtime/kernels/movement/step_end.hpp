// The dispatch that ends a loop of steps on the device.
#pragma once

#include <cstdint>
#include <span>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// The words of the buffer that controls a loop:
//
//   0       the steps that ran
//   1       1 after the last step
//   2       a flag for each element of the output: it has been an end value
//   2 + N   three workgroup counts for each dispatch of a step (VkDispatchIndirectCommand)
struct StepControl {
  uint32_t elements = 0, dispatches = 0;

  static constexpr uint32_t kSteps = 0, kEnded = 1, kFirstFlag = 2;
  uint32_t first_workgroup_count() const { return kFirstFlag + elements; }
  uint32_t words() const { return first_workgroup_count() + 3 * dispatches; }
};

// The most end values that the kernel compares with.
extern const size_t kMostEndValues;

// Returns a dispatch that reads binding 0, the output, and updates binding 1, the control buffer. It lists no
// bindings, because the control buffer is no tensor of the program.
Dispatch end_steps(const DeviceCaps& caps, const StepControl& control, std::span<const int32_t> end_values);

}  // namespace vellum
