#include "vellum/kernel_check.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "selfcheck/check_kernels.hpp"

namespace vellum {

std::vector<KernelCheck> check_kernels(const Device& device, const KernelCheckOptions& options) {
  return guard([&] { return check_kernels(impl(device)->context, options); });
}

}  // namespace vellum
