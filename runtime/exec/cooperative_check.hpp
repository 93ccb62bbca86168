// Checks a device's results of cooperative matrix products.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum {

bool uses_cooperative_matrices(const Program& program);

// Multiplies matrices of small integers with each kernel, and compares the results, which halves represent
// exactly, with the host's. Drivers of these extensions are young, and a wrong result is worse than a slow
// one.
bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context);

// The programs of this check on a device with `caps`, for bundles that hold compiled shaders.
std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps);

// Runs the check once for all sessions of a device. Thread-safe.
class CooperativeCheck {
 public:
  // Also false if the product fails. Logs the reason.
  bool passes(const std::shared_ptr<gpu::Context>& context);

 private:
  std::once_flag once_;
  bool passed_ = false;
};

}  // namespace vellum
