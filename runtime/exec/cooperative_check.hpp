// Whether a device's products of cooperative matrices can be trusted.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum {

bool uses_cooperative_matrices(const Program& program);

// Multiplies matrices of small whole numbers on the device in each way that kernels have, whose results
// halves hold exactly, and compares them with the host's. Drivers of these extensions are young, and a wrong
// result is worse than a slow one.
bool cooperative_products_are_right(const std::shared_ptr<gpu::Context>& context);

// What it runs on a device with `caps`, for those who must have its shaders compiled before.
std::vector<Program> programs_of_cooperative_check(const DeviceCaps& caps);

// The same once for all sessions of a device. Thread-safe.
class CooperativeCheck {
 public:
  // False too where the product fails; says why in the log.
  bool passes(const std::shared_ptr<gpu::Context>& context);

 private:
  std::once_flag once_;
  bool passed_ = false;
};

}  // namespace vellum
