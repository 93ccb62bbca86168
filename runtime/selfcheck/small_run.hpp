// Runs a small program on the device and compares it with the host's results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/tensor.hpp"
#include "program/program.hpp"
#include "selfcheck/small_operator.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Returns the largest error of a result that counts as correct. It is large, because driver faults cause
// large errors.
double error_bound(Precision precision);

// Runs the operator's program and returns the largest difference from `want` over all outputs, divided as
// the operator's ErrorScale specifies. Returns NaN if only the device, or only the host, computed a NaN or an
// infinity. repetitions: how often the program runs. Throws Error(internal) if a later run's bits differ from
// those of the first run.
double error_on_device(const std::shared_ptr<gpu::Context>& context, Program program,
                       const SmallOperator& small, const std::vector<HostTensor>& want, uint32_t repetitions);

// Whether the shaders of a program are available; empty: all are.
using HasShaders = std::function<bool(const Program&)>;

// Runs the programs of one check under crash marks (vulkan/crash_marks.hpp).
class MarkedRuns {
 public:
  MarkedRuns(const std::shared_ptr<gpu::Context>& context, uint32_t repetitions)
      : context_(context), repetitions_(repetitions) {}

  // Does the same as error_on_device(), with a mark for each shader that ran in no earlier program. Throws
  // Error(unsupported) if one of the shaders ended an earlier process.
  double error(const SmallOperator& small, Program program, const std::vector<HostTensor>& want);
  // Calls `function`, which runs the program, under the same marks. name: the name of the operator.
  void run(const std::string& name, const Program& program, const std::function<void()>& function);

 private:
  const std::shared_ptr<gpu::Context>& context_;
  uint32_t repetitions_;            // error_on_device()'s
  std::set<std::string> survived_;  // shaders
};

}  // namespace vellum
