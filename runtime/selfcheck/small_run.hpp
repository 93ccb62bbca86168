// Runs a small program on the device and compares it with the host's results.
#pragma once

#include <memory>
#include <vector>

#include "graph/tensor.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// The error up to which a result counts as right: faults of drivers are gross.
double error_bound(Precision precision);

// The largest difference from `want` of all outputs, divided by the largest magnitude of that output or 1;
// NaN if the device computed NaN.
double error_on_device(const std::shared_ptr<gpu::Context>& context, Program program,
                       const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& want);

}  // namespace vellum
