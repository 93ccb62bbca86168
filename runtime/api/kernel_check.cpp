#include "vellum/kernel_check.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "selfcheck/check_kernels.hpp"

namespace vellum {

std::vector<KernelCheck> check_kernels(const Device& device, const KernelCheckOptions& options) {
  return guard([&] {
    if (!gpu::compiles_shaders())
      throw Error(ErrorCode::unsupported,
                  "the kernels of " + impl(device)->context->caps().name +
                      " cannot be checked: this library (Vellum::runtime) compiles no shaders; link "
                      "Vellum::vellum");
    return check_kernels(impl(device)->context, options);
  });
}

}  // namespace vellum
