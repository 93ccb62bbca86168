#include "vellum/kernel_check.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "selfcheck/check_kernels.hpp"

namespace vellum {

std::vector<KernelCheck> check_kernels(const Device& device, const KernelCheckOptions& options) {
  return guard([&] {
    KernelCheckOptions guarded = options;
    if (options.progress)
      guarded.progress = [&](size_t done, size_t total) {
        return call_application("the function that is told of progress",
                                [&] { return options.progress(done, total); });
      };
    return check_kernels(impl(device)->context, guarded);
  });
}

}  // namespace vellum
