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
  // Checks the kernels of the program that have no verdict yet, and stores the verdicts in the cache folder.
  // Returns whether all kernels of the program are right. Throws Error(device_lost) if the device is lost.
  bool passes(const std::shared_ptr<gpu::Context>& context, const Program& program, Precision precision,
              Arithmetic arithmetic);
  // Returns for each program what passes() returns. Kernels without a verdict are checked together for all
  // programs.
  std::vector<bool> each_passes(const std::shared_ptr<gpu::Context>& context,
                                std::span<const Program> programs, Precision precision,
                                Arithmetic arithmetic);
  // Adds the kernels of the program whose shaders the driver did not survive to the wrong ones.
  // Returns whether there are new ones among them.
  bool finds_crashes(const gpu::Context& context, const Program& program);
  // Forgets all verdicts, also those in the cache folder.
  void forget(const gpu::Context& context);
  // Returns the kernels that are known to be wrong. Never null.
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
