#include "vellum/kernel_check.hpp"

#include <string>

#include "api/cache_capacity.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "selfcheck/check_kernels.hpp"
#include "selfcheck/check_layers.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {

namespace {

// Returns the options with a guarded function, which refers to `options`.
KernelCheckOptions guarded(const KernelCheckOptions& options) {
  constexpr uint32_t kMostRepetitions = 1'000'000;
  if (options.repetitions < 1 || options.repetitions > kMostRepetitions)
    throw Error(ErrorCode::invalid_argument, "repetitions is " + std::to_string(options.repetitions) +
                                                 ", expected 1 to " + std::to_string(kMostRepetitions));
  KernelCheckOptions result = options;
  if (options.progress)
    result.progress = [&](size_t done, size_t total) {
      return call_application("the function that is told of progress",
                              [&] { return options.progress(done, total); });
    };
  return result;
}

}  // namespace

std::vector<KernelCheck> check_kernels(const Device& device, const KernelCheckOptions& options) {
  return guard([&] { return check_kernels(impl(device)->context, guarded(options)); });
}

std::vector<KernelCheck> check_layers(const Device& device, const Model& model, const SessionOptions& options,
                                      const KernelCheckOptions& check_options) {
  return guard([&] {
    Device::Impl& target = *impl(device);
    const CompileOptions compile_options = target.compile_options(options);
    const Graph graph =
        target.compile(with_cache_capacity(model, options), compile_options, Stage::program).graph;
    const DeviceCaps caps = target.kernel_caps(options.precision);
    std::vector<KernelCheck> checks =
        check_layers(target.context, caps, graph,
                     {.precision = options.precision,
                      .storage = options.storage,
                      .winograd = options.winograd,
                      .arithmetic = options.arithmetic,
                      .tuning = compile_options.tuning.get(),
                      .wrong = target.first_use_check.wrong_kernels(*target.context).get()},
                     guarded(check_options));
    if (checks.empty())
      throw Error(ErrorCode::not_found,
                  check_options.only.empty()
                      ? "no layer of the model has a kernel that is not known to be wrong"
                      : "no layer with a kernel has '" + check_options.only + "' in its name");
    return checks;
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
