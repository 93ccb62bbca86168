#include "selfcheck/check_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "selfcheck/size_cases.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum {
namespace {

// A way to compute an operator: a candidate for each of its choices that has several, or nothing to choose.
struct Way {
  std::string name;
  TuningTable table;
};

// One for each candidate of each choice (of each algorithm, unless `all`), the cost model's elsewhere.
std::vector<Way> ways_of(const std::vector<Choice>& choices, bool all) {
  std::vector<Way> ways;
  for (const Choice& choice : choices) {
    std::set<std::string> seen;
    for (const KernelName& candidate : choice.candidates) {
      if (!all && !seen.insert(candidate.algorithm).second) continue;
      Way& way = ways.emplace_back();
      way.name = candidate.text();
      CandidateTimes& times = way.table.operators[choice.signature];
      times[choice.candidates.front().text()] = 2;
      times[candidate.text()] = 1;
    }
  }
  if (ways.empty()) ways.emplace_back();
  return ways;
}

class Checker {
 public:
  Checker(const std::shared_ptr<gpu::Context>& context, const KernelCheckOptions& options)
      : context_(context), options_(options) {}

  std::vector<KernelCheck> check(const std::vector<SmallOperator>& small,
                                 const std::vector<SmallOperator>& large) {
    check(small, runs_, 0, small.size() + large.size());
    check(large, large_runs_, small.size(), small.size() + large.size());
    return std::move(checks_);
  }

 private:
  void check(const std::vector<SmallOperator>& operators, MarkedRuns& runs, size_t done, size_t total) {
    for (size_t i = 0; i < operators.size(); ++i) {
      if (options_.progress && !options_.progress(done + i, total))
        throw Error(ErrorCode::cancelled, "the check of kernels was cancelled");
      check(operators[i], runs);
    }
  }

  void check(const SmallOperator& small, MarkedRuns& runs) {
    const Graph graph = optimise(small.graph, {});
    const std::vector<HostTensor> want = evaluate(graph, small.inputs);
    for (const StorageChoice storage :
         {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
      for (const auto& [precision, arithmetic] : precisions()) {
        std::vector<Choice> choices;
        LoweringOptions lowering{.precision = precision,
                                 .storage = storage,
                                 .winograd = Winograd::automatic,
                                 .arithmetic = arithmetic,
                                 .choices = &choices};
        KernelCheck first = described(small, lowering);
        if (!attempt(first, [&] { lower(graph, context_->caps(), lowering); })) {
          checks_.push_back(std::move(first));
          continue;
        }
        lowering.choices = nullptr;
        for (const Way& way : ways_of(choices, options_.all)) {
          lowering.tuning = &way.table;
          KernelCheck& result = checks_.emplace_back(described(small, lowering));
          result.kernel = way.name;
          attempt(result,
                  [&] { result.error = runs.error(small, lower(graph, context_->caps(), lowering), want); });
        }
      }
  }

  std::vector<std::pair<Precision, Arithmetic>> precisions() const {
    std::vector<std::pair<Precision, Arithmetic>> list{{Precision::fp32, Arithmetic::fp32},
                                                       {Precision::fp16, Arithmetic::fp32}};
    if (context_->caps().fp16_arithmetic) list.emplace_back(Precision::fp16, Arithmetic::fp16);
    return list;
  }

  static KernelCheck described(const SmallOperator& small, const LoweringOptions& lowering) {
    KernelCheck check;
    check.operation = small.name;
    check.precision = lowering.precision;
    check.arithmetic = lowering.arithmetic;
    check.storage = lowering.storage;
    check.bound = error_bound(lowering.precision);
    return check;
  }

  // A lost device ends the check; all else is this operator's failure.
  template <typename Function>
  static bool attempt(KernelCheck& check, const Function& function) {
    try {
      function();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
      check.failure = error.what();
      return false;
    }
  }

  const std::shared_ptr<gpu::Context>& context_;
  const KernelCheckOptions& options_;
  std::vector<KernelCheck> checks_;
  MarkedRuns runs_{context_, options_.repetitions};
  // Each run of a large operator takes as long as dozens of small ones.
  static constexpr uint32_t kMostLargeRepetitions = 4;
  MarkedRuns large_runs_{context_, std::min(options_.repetitions, kMostLargeRepetitions)};
};

}  // namespace

std::vector<KernelCheck> check_kernels(const std::shared_ptr<gpu::Context>& context,
                                       const KernelCheckOptions& options) {
  if (!gpu::compiles_shaders())
    throw Error(ErrorCode::unsupported, "the kernels of " + context->caps().name +
                                            " cannot be checked: this library (Vellum::runtime) compiles no "
                                            "shaders; link Vellum::vellum");
  std::vector<SmallOperator> small = small_operators(), large;
  if (options.all)
    for (const SizeClass size : kSizeClasses)
      std::ranges::move(sized_operators(size, context->caps(), true), std::back_inserter(large));
  for (std::vector<SmallOperator>* list : {&small, &large})
    std::erase_if(*list, [&](const SmallOperator& one) { return !one.name.starts_with(options.only); });
  if (small.empty() && large.empty())
    throw Error(ErrorCode::not_found, "no operation that is checked begins with '" + options.only + "'");
  return Checker(context, options).check(small, large);
}

}  // namespace vellum
