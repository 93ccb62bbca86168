#include "selfcheck/check_used_kernels.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "exec/pipeline_keys.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {
namespace {

// Operators of large sizes: faults that some runs have are found by small ones.
constexpr uint32_t kSizedRepetitions = 2;
// Finds a fault in a tenth of the runs in half of the checks, and one in a quarter of them in nine of ten.
constexpr uint32_t kRepetitions = 8;

class UsedKernelsCheck {
 public:
  UsedKernelsCheck(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                   const UsedKernels& used)
      : context_(context),
        used_(used),
        programs_(caps, used),
        runs_(context, used.size ? kSizedRepetitions : kRepetitions) {}

  KernelVerdicts check() {
    const std::set<size_t> chosen = programs_.chosen();
    make_pipelines(chosen);
    for (const size_t program : chosen) run(program);
    return verdicts();
  }

 private:
  // In parallel. What a driver refuses to compile fails again in the program that needs it.
  void make_pipelines(const std::set<size_t>& chosen) {
    std::vector<gpu::PipelineKey> keys;
    for (const size_t program : chosen)
      std::ranges::move(pipeline_keys(programs_.lowered(program)), std::back_inserter(keys));
    try {
      made_ = context_->pipelines().prepare(keys);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
    }
  }

  void run(size_t number) {
    if (std::exchange(has_run_, true) && used_.until && std::chrono::steady_clock::now() > *used_.until) {
      skipped_.insert(number);
      return;
    }
    const SmallProgram& program = programs_[number];
    try {
      const std::vector<HostTensor> want = evaluate(*program.graph, program.small->inputs);
      const double error = runs_.error(*program.small, programs_.lowered(number), want);
      const double bound = error_bound(used_.precision);
      if (!(error <= bound)) failures_[number] = describe(error, bound) + " in '" + program.small->name + "'";
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
      if (error.code() == ErrorCode::out_of_memory)
        skipped_.insert(number);
      else
        failures_[number] = std::string(error.what()) + " in '" + program.small->name + "'";
    }
    if (!failures_.contains(number) && !skipped_.contains(number))
      for (const KernelId& kernel : program.kernels) right_.insert(kernel.text());
  }

  static std::string describe(double error, double bound) {
    char text[80];
    std::snprintf(text, sizeof text, "an error of %.2g where at most %.2g is right,", error, bound);
    return text;
  }

  KernelVerdicts verdicts() const {
    KernelVerdicts verdicts;
    for (size_t i = 0; i < used_.kernels.size(); ++i) {
      const std::string text = used_.kernels[i].text();
      const std::vector<SmallPrograms::Match>& matches = programs_.matches()[i];
      if (matches.empty()) {
        verdicts.unchecked.insert(text);
        continue;
      }
      const auto is_right = [&](const SmallPrograms::Match& match) {
        return right_.contains(programs_[match.program].kernels[match.kernel].text());
      };
      if (std::ranges::any_of(matches, is_right)) {
        verdicts.right.insert(text);
        continue;
      }
      for (const SmallPrograms::Match& match : matches)
        if (const auto failure = failures_.find(match.program); failure != failures_.end())
          verdicts.wrong.emplace(text, wrong_kernel(used_.kernels[i], failure->second));
    }
    return verdicts;
  }

  const std::shared_ptr<gpu::Context>& context_;
  const UsedKernels& used_;
  SmallPrograms programs_;
  std::vector<std::shared_ptr<const gpu::Pipeline>> made_;
  MarkedRuns runs_;
  bool has_run_ = false;
  std::map<size_t, std::string> failures_;  // by program
  std::set<size_t> skipped_;
  std::set<std::string> right_;  // kernels of programs with right results
};

}  // namespace

KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                  const UsedKernels& used) {
  return UsedKernelsCheck(context, caps, used).check();
}

}  // namespace vellum
