// Runs a small program on the device and compares it with the host's results.
#pragma once

#include <memory>
#include <vector>

#include "graph/tensor.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Returns the error up to which a result counts as right. It is large, because driver faults cause large
// errors.
double error_bound(Precision precision);

// Runs the program and returns the largest difference from `want` over all outputs, relative to the largest
// magnitude of the output or to 1 if that is larger. NaN if the device computed NaN.
double error_on_device(const std::shared_ptr<gpu::Context>& context, Program program,
                       const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& want);

}  // namespace vellum
