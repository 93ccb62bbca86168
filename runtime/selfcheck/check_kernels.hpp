// Compares kernels of a device with the host reference.
#pragma once

#include <memory>
#include <vector>

#include "vellum/kernel_check.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Implements check_kernels() of vellum/kernel_check.hpp for a context.
std::vector<KernelCheck> check_kernels(const std::shared_ptr<gpu::Context>& context,
                                       const KernelCheckOptions& options);

}  // namespace vellum
