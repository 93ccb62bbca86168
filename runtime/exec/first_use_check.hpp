// Checks kernels at their first use on a device, and remembers the verdicts.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "exec/kernel_verdicts.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Shared by all sessions of a device. Thread-safe.
class FirstUseCheck {
 public:
  // Checks those kernels of the program that have no verdict, and stores it in the cache folder. Returns
  // whether the program may run: false if it has a wrong kernel. Throws Error(device_lost) if the device is
  // lost.
  bool passes(const std::shared_ptr<gpu::Context>& context, const Program& program, Precision precision,
              Arithmetic arithmetic);
  // For each program what passes() returns. The unknown kernels of all programs are checked together.
  std::vector<bool> each_passes(const std::shared_ptr<gpu::Context>& context,
                                std::span<const Program> programs, Precision precision,
                                Arithmetic arithmetic);
  // Those that are known by now. Never null.
  std::shared_ptr<const WrongKernels> wrong_kernels(const gpu::Context& context);

 private:
  void read(const gpu::Context& context);
  void add(const gpu::Context& context, KernelVerdicts found);

  std::mutex mutex_;
  bool is_read_ = false;
  KernelVerdicts verdicts_;
  std::shared_ptr<const WrongKernels> wrong_ = std::make_shared<const WrongKernels>();
};

}  // namespace vellum
