#include "vellum/kernel_check.hpp"

#include <string>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "selfcheck/check_kernels.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {

std::vector<KernelCheck> check_kernels(const Device& device, const KernelCheckOptions& options) {
  return guard([&] {
    constexpr uint32_t kMostRepetitions = 1'000'000;
    if (options.repetitions < 1 || options.repetitions > kMostRepetitions)
      throw Error(ErrorCode::invalid_argument, "repetitions is " + std::to_string(options.repetitions) +
                                                   ", expected 1 to " + std::to_string(kMostRepetitions));
    KernelCheckOptions guarded = options;
    if (options.progress)
      guarded.progress = [&](size_t done, size_t total) {
        return call_application("the function that is told of progress",
                                [&] { return options.progress(done, total); });
      };
    return check_kernels(impl(device)->context, guarded);
  });
}

std::vector<std::string> crashes(const Device& device) {
  return guard([&] {
    std::vector<std::string> texts;
    for (const gpu::Attempt& crash : impl(device)->context->crash_marks().crashes())
      texts.push_back(crash.what);
    return texts;
  });
}

void forget_crashes(const Device& device) {
  guard([&] {
    const gpu::Context& context = *impl(device)->context;
    context.crash_marks().forget();
    impl(device)->first_use_check.forget(context);
  });
}

void discard_attempts() {
  guard([] { gpu::CrashMarks::discard_all(); });
}

}  // namespace vellum
