// Checks the kernels that a session is about to use for the first time on a device.
#pragma once

#include <memory>
#include <vector>

#include "exec/kernel_verdicts.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "vellum/options.hpp"
#include "vulkan/context.hpp"

namespace vellum {

struct UsedKernels {
  std::vector<KernelId> kernels;
  // How the session's operators are lowered.
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
};

// Runs for each kernel the small operator whose lowering has the most similar one, and compares it with the
// host reference. Each operator runs once: some milliseconds for each kernel, most of them for its
// compilation. Kernels of an operator with a wrong result are wrong unless they gave a right one elsewhere.
// Those that no small operator has are unchecked; so is a kernel whose check found no memory, and that has no
// verdict. Throws Error(device_lost) if the device is lost.
KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>& context, const UsedKernels& used);

}  // namespace vellum
