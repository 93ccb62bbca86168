#include "selfcheck/check_used_kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "exec/pipeline_keys.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {
namespace {

// One way to lower a small operator.
struct SmallProgram {
  const SmallOperator* small = nullptr;
  const Graph* graph = nullptr;  // optimised
  StorageChoice storage = StorageChoice::buffer;
  bool inputs_to_channels4 = false;
  uint32_t fold = 0;  // of its images
  TuningTable table;
  std::vector<KernelId> kernels;
};

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The function that a kernel computes, where one shader computes several: "FUNCTION=exp".
std::string function_of(const KernelId& kernel) {
  std::string function;
  for (const std::string_view word : words_of(kernel.variant))
    if (word.starts_with("FUNCTION=") || word.starts_with("REDUCTION=") ||
        (kernel.shader == "unary" && word.starts_with("ACTIVATION=")))
      function.append(word).append(" ");
  return function;
}

// How well a check of `small` says something about `used`; 0: not at all.
size_t similarity(const KernelId& used, const KernelId& small) {
  if (used.shader != small.shader || used.written != small.written || function_of(used) != function_of(small))
    return 0;
  constexpr size_t kSameCandidate = 1000, kSameForms = 100;
  size_t score = 1;
  if (used.candidate == small.candidate) score += kSameCandidate;
  if (used.forms == small.forms) score += kSameForms;
  const std::set<std::string_view> a = words_of(used.variant), b = words_of(small.variant);
  for (const std::string_view word : a) score += b.contains(word);
  return score;
}

// That of the operator, rather than of a conversion of its inputs or outputs.
std::string_view main_shader(const SmallProgram& program) {
  const auto found = std::ranges::find_if_not(program.kernels, is_conversion);
  return found == program.kernels.end() ? std::string_view() : found->shader;
}

bool uses_form(const std::vector<KernelId>& kernels, std::string_view form) {
  return std::ranges::any_of(
      kernels, [&](const KernelId& kernel) { return kernel.forms.find(form) != kernel.forms.npos; });
}

// Finds a fault in a tenth of the runs in half of the checks, and one in a quarter of them in nine of ten.
constexpr uint32_t kRepetitions = 8;

class UsedKernelsCheck {
 public:
  UsedKernelsCheck(const std::shared_ptr<gpu::Context>& context, const UsedKernels& used)
      : context_(context), used_(used), operators_(small_operators()) {
    graphs_.reserve(operators_.size());
    for (const SmallOperator& small : operators_) graphs_.push_back(optimise(small.graph, {}));
    for (const KernelId& kernel : used.kernels) {
      shaders_.insert(kernel.shader);
      candidates_.insert(kernel.candidate);
    }
  }

  KernelVerdicts check() {
    find_programs();
    for (const KernelId& kernel : used_.kernels) matches_.push_back(best_programs(kernel));
    std::set<size_t> chosen;
    for (const std::vector<Match>& matches : matches_)
      for (const Match& match : matches) chosen.insert(match.program);
    make_pipelines(chosen);
    for (const size_t program : chosen) run(program);
    return verdicts();
  }

 private:
  // A kernel of a small program.
  struct Match {
    size_t program = 0, kernel = 0;
  };

  LoweringOptions lowering_options(const SmallProgram& program) const {
    return {.precision = used_.precision,
            .storage = program.storage,
            .inputs_to_channels4 = program.inputs_to_channels4,
            .winograd = Winograd::automatic,
            .arithmetic = used_.arithmetic,
            .tuning = &program.table,
            .fold = program.fold};
  }

  // Those that have a shader of the session's, with the candidates that it takes.
  void find_programs() {
    struct Form {
      StorageChoice storage;
      uint32_t fold;
    };
    std::vector<Form> forms{{StorageChoice::buffer, 0}};
    if (uses_form(used_.kernels, "=IMAGE2D")) forms.push_back({StorageChoice::image2d, 0});
    if (std::ranges::any_of(used_.kernels, &KernelId::uses_folded_images))
      forms.push_back({StorageChoice::image2d, 2});
    if (uses_form(used_.kernels, "=IMAGE3D")) forms.push_back({StorageChoice::image3d, 0});
    for (size_t i = 0; i < operators_.size(); ++i)
      for (const Form& form : forms)
        for (const bool channels4 : {true, false})
          add_programs({.small = &operators_[i],
                        .graph = &graphs_[i],
                        .storage = form.storage,
                        .inputs_to_channels4 = channels4,
                        .fold = form.fold,
                        .table = {},
                        .kernels = {}});
  }

  void add_programs(const SmallProgram& program) {
    std::vector<Choice> choices;
    if (!add_program(program, &choices)) return;
    for (const Choice& choice : choices)
      for (size_t i = 1; i < choice.candidates.size(); ++i) {
        const std::string name = choice.candidates[i].text();
        const auto takes = [&](const std::string& taken) { return taken.find(name) != taken.npos; };
        if (std::ranges::none_of(candidates_, takes)) continue;
        SmallProgram other = program;
        other.table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}, {name, 1.0}};
        add_program(other, nullptr);
      }
  }

  // False: the device cannot compute it so.
  bool add_program(SmallProgram program, std::vector<Choice>* choices) {
    LoweringOptions lowering = lowering_options(program);
    lowering.choices = choices;
    try {
      const Program lowered = lower(*program.graph, context_->caps(), lowering);
      for (const Task& task : lowered.tasks) {
        if (!task.dispatch) return choices != nullptr;
        program.kernels.push_back(kernel_id(*task.dispatch));
      }
    } catch (const Error&) {
      return false;
    }
    const auto is_used = [&](const KernelId& kernel) {
      return !is_conversion(kernel) && shaders_.contains(kernel.shader);
    };
    if (std::ranges::any_of(program.kernels, is_used) || is_for_conversions(*program.small))
      programs_.push_back(std::move(program));
    return true;
  }

  // Operators without products, beside which conversions are checked in every session that has some.
  bool is_for_conversions(const SmallOperator& small) const {
    return (small.name == "Relu" || small.name == "Add") &&
           std::ranges::any_of(used_.kernels, [](const KernelId& kernel) { return is_conversion(kernel); });
  }

  // The most similar kernel. Conversions are in many programs: in some of them another kernel may be wrong,
  // so they are taken from programs with different shaders.
  std::vector<Match> best_programs(const KernelId& used) const {
    const size_t wanted = is_conversion(used) ? 3 : 1;
    size_t best = 0;
    std::vector<Match> matches;
    std::set<std::string_view> shaders;
    for (size_t p = 0; p < programs_.size(); ++p)
      for (size_t k = 0; k < programs_[p].kernels.size(); ++k) {
        const size_t score = similarity(used, programs_[p].kernels[k]);
        if (score < best || score == 0) continue;
        if (score > best) {
          matches.clear();
          shaders.clear();
        }
        best = score;
        if (matches.size() < wanted && shaders.insert(main_shader(programs_[p])).second)
          matches.push_back({p, k});
      }
    return matches;
  }

  Program lowered(size_t program) const {
    return lower(*programs_[program].graph, context_->caps(), lowering_options(programs_[program]));
  }

  // In parallel. What a driver refuses to compile fails again in the program that needs it.
  void make_pipelines(const std::set<size_t>& chosen) {
    std::vector<gpu::PipelineKey> keys;
    for (const size_t program : chosen)
      std::ranges::move(pipeline_keys(lowered(program)), std::back_inserter(keys));
    try {
      made_ = context_->pipelines().prepare(keys);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
    }
  }

  void run(size_t number) {
    const SmallProgram& program = programs_[number];
    try {
      const std::vector<HostTensor> want = evaluate(*program.graph, program.small->inputs);
      const double error = runs_.error(program.small->name, lowered(number), program.small->inputs, want);
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
      if (matches_[i].empty()) {
        verdicts.unchecked.insert(text);
        continue;
      }
      const auto is_right = [&](const Match& match) {
        return right_.contains(programs_[match.program].kernels[match.kernel].text());
      };
      if (std::ranges::any_of(matches_[i], is_right)) {
        verdicts.right.insert(text);
        continue;
      }
      for (const Match& match : matches_[i])
        if (const auto failure = failures_.find(match.program); failure != failures_.end())
          verdicts.wrong.emplace(text, wrong_kernel(used_.kernels[i], failure->second));
    }
    return verdicts;
  }

  const std::shared_ptr<gpu::Context>& context_;
  const UsedKernels& used_;
  std::vector<SmallOperator> operators_;
  std::vector<Graph> graphs_;
  std::set<std::string> shaders_, candidates_;  // of the session
  std::vector<SmallProgram> programs_;
  std::vector<std::vector<Match>> matches_;  // of each used kernel
  std::vector<std::shared_ptr<const gpu::Pipeline>> made_;
  MarkedRuns runs_{context_, kRepetitions};
  std::map<size_t, std::string> failures_;  // by program
  std::set<size_t> skipped_;
  std::set<std::string> right_;  // kernels of programs with right results
};

}  // namespace

KernelVerdicts check_used_kernels(const std::shared_ptr<gpu::Context>& context, const UsedKernels& used) {
  return UsedKernelsCheck(context, used).check();
}

}  // namespace vellum
