// Takes the place of selfcheck/ in the library that compiles no shaders, and so can check no kernels.
#include "selfcheck/check_kernels.hpp"
#include "selfcheck/check_used_kernels.hpp"
#include "vellum/error.hpp"

namespace vellum {

std::vector<KernelCheck> check_kernels(const std::shared_ptr<gpu::Context>& context,
                                       const KernelCheckOptions&) {
  throw Error(ErrorCode::unsupported, "the kernels of " + context->caps().name +
                                          " cannot be checked: this library (Vellum::runtime) compiles no "
                                          "shaders; link Vellum::vellum");
}

// Not called: Device::Impl asks for no check where no shaders can be compiled.
KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>&, const UsedKernels&) { return {}; }

}  // namespace vellum
