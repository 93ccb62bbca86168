// Runs a small program on the device and compares it with the host's results.
#pragma once

#include <memory>
#include <set>
#include <string>
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

// Runs the programs of one check under crash marks (vulkan/crash_marks.hpp).
class MarkedRuns {
 public:
  explicit MarkedRuns(const std::shared_ptr<gpu::Context>& context) : context_(context) {}

  // Does what error_on_device() does, with a mark for each shader that ran in no earlier program. name: the
  // operator's. Throws Error(unsupported) if an earlier process did not survive one of the shaders.
  double error(const std::string& name, Program program, const std::vector<HostTensor>& inputs,
               const std::vector<HostTensor>& want);

 private:
  const std::shared_ptr<gpu::Context>& context_;
  std::set<std::string> survived_;  // shaders
};

}  // namespace vellum
