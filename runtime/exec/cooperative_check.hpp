// Checks a device's results of cooperative matrix products.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Returns whether a dispatch of the program multiplies cooperative matrices.
bool uses_cooperative_matrices(const Program& program);

// Multiplies matrices of small integers with each kernel, and compares the results with the host's. fp16
// represents these results exactly. The check exists because drivers of these extensions are new.
bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context);

// Returns the programs that the check runs on a device with `caps`, so that bundles include their shaders.
std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps);

// Runs the check once for all sessions of a device. Thread-safe.
class CooperativeCheck {
 public:
  // Returns false, and logs the reason, if results are wrong, a product cannot be computed, or an earlier
  // check ended its process or lost the device.
  bool passes(const std::shared_ptr<gpu::Context>& context);

 private:
  std::once_flag once_;
  bool passed_ = false;
};

}  // namespace vellum
