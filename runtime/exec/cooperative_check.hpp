// Checks a device's results of cooperative matrix products.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Returns whether a dispatch of the program multiplies cooperative matrices, or those of such factors.
bool uses_cooperative_matrices(const Program& program);
bool uses_cooperative_matrices(const Program& program, MatrixFactors factors);

// Multiplies matrices of small integers with each kernel for such factors, and compares the results with the
// host's. Halves represent these results exactly. The check exists because drivers of these extensions are
// new.
bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context, MatrixFactors factors);

// Returns the programs that the checks run on a device with `caps`, so that bundles include their shaders.
std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps);

// Runs the check of each kind of factors once for all sessions of a device. Thread-safe.
class CooperativeCheck {
 public:
  // Returns false, and logs the reason, if results are wrong, a product cannot be computed, or an earlier
  // check ended its process or lost the device.
  bool passes(const std::shared_ptr<gpu::Context>& context, MatrixFactors factors);

  // Removes the matrices whose check fails, of those that the program multiplies, from the caps. Returns
  // whether it removed any.
  bool removes_wrong(const std::shared_ptr<gpu::Context>& context, const Program& program, DeviceCaps& caps);

 private:
  struct Result {
    std::once_flag once;
    bool passed = false;
  };
  Result halves_, bytes_;
};

}  // namespace vellum
