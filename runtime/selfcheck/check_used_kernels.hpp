// Checks the kernels that a session is about to use for the first time on a device.
#pragma once

#include <memory>

#include "exec/kernel_verdicts.hpp"
#include "selfcheck/small_programs.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Runs for each kernel the small operator whose lowering has the most similar kernel, and compares the result
// with the host reference. Each operator runs eight times, and has to give the same bits. A kernel takes some
// milliseconds, most of them for compilation. If an operator's result is wrong, all of its kernels are wrong,
// except those that gave a right result in another operator. A kernel that no small operator uses is recorded
// as unchecked; a kernel whose check ran out of memory gets no verdict. Throws Error(device_lost) if the
// device is lost.
//
// caps: those that the kernels were compiled for, of which the device has all.
KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                  const UsedKernels& used);

}  // namespace vellum
