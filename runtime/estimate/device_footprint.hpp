// The memory that a session allocates from Vulkan.
#pragma once

#include <cstdint>

#include "estimate/estimate.hpp"
#include "estimate/weight_footprint.hpp"

namespace vellum {

struct DeviceFootprint {
  WeightFootprint weights;
  Footprint inputs, outputs, planned;  // for all runs in flight; planned: intermediates and workspace
  Footprint state;                     // one for all runs
  uint64_t run_staging = 0;
  uint32_t in_flight = 1;

  uint64_t in_out() const { return inputs.allocated + outputs.allocated; }
  // Returns the bytes that stay allocated as long as the session: without staging.
  uint64_t lasting() const { return weights.allocated + in_out() + state.allocated + planned.allocated; }
  VulkanMemory vulkan() const;
  // Returns the peak at any time. It exceeds vulkan().peak if weights are uploaded again after
  // Session::trim(), because the inputs and outputs of several runs in flight then exist beside the upload's
  // staging memory.
  uint64_t most() const;
};

// Returns the footprint of a session. Throws Error(out_of_memory) if the weights cannot be streamed within
// the weights budget.
DeviceFootprint device_footprint(const EstimateInputs& inputs);

}  // namespace vellum
