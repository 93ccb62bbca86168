// Checks kernels at their first use on a device, and remembers the verdicts.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "exec/kernel_verdicts.hpp"
#include "program/program.hpp"
#include "selfcheck/small_programs.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// How the programs of a check were compiled.
struct CheckedPrograms {
  std::span<const Program> programs;
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
  const DeviceCaps* caps = nullptr;                      // null: the device's
  std::function<bool(const Program&)> has_shaders = {};  // UsedKernels::has_shaders
};

// Shared by all sessions of a device. Thread-safe.
class FirstUseCheck {
 public:
  // Checks the kernels of the programs that have no verdict yet, all together, and stores the verdicts in the
  // cache folder. Returns for each program whether all of its kernels are right. Throws Error(device_lost) if
  // the device is lost.
  std::vector<bool> passes(const std::shared_ptr<gpu::Context>& context, const CheckedPrograms& checked);
  // Returns whether intermediate tensors may share memory on this device. The first call checks it, unless
  // the cache folder has the verdict. Without shaders for the check the answer is yes. caps: the caps that
  // the programs are compiled for.
  bool may_share_memory(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                        const std::function<bool(const Program&)>& has_shaders = {});
  // Returns DeviceCaps::packs_halves. The first call checks it, in the same way.
  bool packs_halves(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                    const std::function<bool(const Program&)>& has_shaders = {});
  // Marks the kernels of the program as wrong whose shaders crashed the driver in an earlier process. Returns
  // whether it marked a kernel that was not marked before.
  bool finds_crashes(const gpu::Context& context, const Program& program);
  // Forgets all verdicts, also those in the cache folder.
  void forget(const gpu::Context& context);
  // Returns the kernels that are known to be wrong. Never null.
  std::shared_ptr<const WrongKernels> wrong_kernels(const gpu::Context& context);

 private:
  // Returns `verdict`, a member of verdicts_. If it is not known yet, calls `check` and stores its result. A
  // check without a result counts as true and is not stored.
  bool answer(const gpu::Context& context, std::optional<bool>& verdict,
              const std::function<std::optional<bool>()>& check);
  void read(const gpu::Context& context);
  // Checks those of the programs' kernels that are used in large sizes, for a short time.
  void check_sizes(const std::shared_ptr<gpu::Context>& context, const CheckedPrograms& checked,
                   const DeviceCaps& caps);
  void check_size(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                  const UsedKernels& used);
  void add(const gpu::Context& context, KernelVerdicts found);

  std::mutex mutex_;
  bool is_read_ = false;
  KernelVerdicts verdicts_;
  std::shared_ptr<const WrongKernels> wrong_ = std::make_shared<const WrongKernels>();
};

}  // namespace vellum
