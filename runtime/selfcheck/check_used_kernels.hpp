// Checks the kernels that a session is about to use for the first time on a device.
#pragma once

#include <memory>

#include "exec/kernel_verdicts.hpp"
#include "selfcheck/small_programs.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// For each kernel, runs the small operator whose lowering has the most similar kernel, and compares the
// result with the host reference. Each operator runs eight times and must give the same bits each time. A
// kernel takes some milliseconds, most of them for compilation. If an operator's result is wrong, all of its
// kernels count as wrong, except those that gave a correct result in another operator. A kernel that no small
// operator uses is recorded as unchecked; a kernel whose check ran out of memory or time gets no
// verdict. With UsedKernels::size the operators are of that size and run twice. Throws Error(device_lost) if
// the device is lost.
//
// caps: the caps for which the kernels were compiled; the device must meet them.
KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                  const UsedKernels& used);

}  // namespace vellum
