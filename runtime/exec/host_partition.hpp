// Computes a part of the network on the host.
#pragma once

#include <memory>
#include <vector>

#include "exec/device_tensors.hpp"
#include "graph/operators/control/device_region.hpp"

namespace vellum {

// Reads the partition's inputs from the device, evaluates its graph, and writes the outputs to the device
// unless they have run-time shapes. Returns the outputs. `run_region` computes device regions. The device
// must have finished all tasks before the partition, with a barrier for host reads.
std::vector<HostTensor> run_host_partition(const std::shared_ptr<gpu::Context>& context,
                                           const Program& program, const HostPartition& partition,
                                           const DeviceTensors& tensors, const RunRegion& run_region = {});

}  // namespace vellum
