#include "api/first_use_check.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "selfcheck/check_used_kernels.hpp"
#include "selfcheck/halves_check.hpp"
#include "selfcheck/reuse_check.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {

std::vector<bool> FirstUseCheck::passes(const std::shared_ptr<gpu::Context>& context,
                                        const CheckedPrograms& checked) {
  const std::lock_guard lock(mutex_);
  read(*context);
  UsedKernels unknown{.kernels = {},
                      .precision = checked.precision,
                      .arithmetic = checked.arithmetic,
                      .has_shaders = checked.has_shaders};
  std::set<std::string> texts;
  for (const Program& program : checked.programs)
    for (const Task& task : program.tasks) {
      if (!task.dispatch) continue;
      KernelId kernel = kernel_id(*task.dispatch);
      std::string text = kernel.text();
      if (!verdicts_.knows(text) && texts.insert(std::move(text)).second)
        unknown.kernels.push_back(std::move(kernel));
    }
  const DeviceCaps& caps = checked.caps ? *checked.caps : context->caps();
  if (!unknown.kernels.empty()) add(*context, check_used_kernels(context, caps, unknown));
  check_sizes(context, checked, caps);
  std::vector<bool> passed;
  for (const Program& program : checked.programs)
    passed.push_back(std::ranges::none_of(program.tasks, [&](const Task& task) {
      return task.dispatch && verdicts_.wrong.contains(kernel_id(*task.dispatch).text());
    }));
  return passed;
}

namespace {

std::string sized_text(const std::string& kernel, SizeClass size) { return kernel + " | " + name(size); }

}  // namespace

// Checks for at most 80 ms. Later sessions check the kernels that remain.
void FirstUseCheck::check_sizes(const std::shared_ptr<gpu::Context>& context, const CheckedPrograms& checked,
                                const DeviceCaps& caps) {
  constexpr std::chrono::milliseconds kTime(80);
  const auto until = std::chrono::steady_clock::now() + kTime;
  for (const SizeClass size : kSizeClasses) {
    UsedKernels unknown{.precision = checked.precision,
                        .arithmetic = checked.arithmetic,
                        .has_shaders = checked.has_shaders,
                        .size = size,
                        .until = until};
    std::set<std::string> texts;
    for (const Program& program : checked.programs)
      for (const Task& task : program.tasks) {
        if (!task.dispatch || !has_size(program, *task.dispatch, size, caps)) continue;
        KernelId kernel = kernel_id(*task.dispatch);
        const std::string text = kernel.text();
        if (!verdicts_.wrong.contains(text) && !verdicts_.knows(sized_text(text, size)) &&
            texts.insert(text).second)
          unknown.kernels.push_back(std::move(kernel));
      }
    if (!unknown.kernels.empty() && std::chrono::steady_clock::now() < until)
      check_size(context, caps, unknown);
  }
}

void FirstUseCheck::check_size(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                               const UsedKernels& used) {
  const KernelVerdicts found = check_used_kernels(context, caps, used);
  KernelVerdicts sized{.wrong = found.wrong};
  for (const std::string& text : found.right) sized.right.insert(sized_text(text, *used.size));
  for (const std::string& text : found.unchecked) sized.unchecked.insert(sized_text(text, *used.size));
  for (const auto& [text, wrong] : found.wrong) {
    verdicts_.right.erase(text);
    verdicts_.unchecked.erase(text);
  }
  add(*context, std::move(sized));
}

bool FirstUseCheck::may_share_memory(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                     const std::function<bool(const Program&)>& has_shaders) {
  return answer(*context, verdicts_.may_share_memory,
                [&] { return memory_reuse_is_safe(context, caps, has_shaders); });
}

bool FirstUseCheck::packs_halves(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                 const std::function<bool(const Program&)>& has_shaders) {
  return answer(*context, verdicts_.packs_halves,
                [&] { return converts_halves_correctly(context, caps, has_shaders); });
}

bool FirstUseCheck::answer(const gpu::Context& context, std::optional<bool>& verdict,
                           const std::function<std::optional<bool>()>& check) {
  const std::lock_guard lock(mutex_);
  read(context);
  if (!verdict) {
    verdict = check();
    if (verdict) add(context, {});
  }
  return verdict.value_or(true);
}

bool FirstUseCheck::finds_crashes(const gpu::Context& context, const Program& program) {
  const gpu::CrashMarks& marks = context.crash_marks();
  if (marks.crashes().empty()) return false;
  const std::lock_guard lock(mutex_);
  read(context);
  KernelVerdicts found;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    const std::string& shader = task.dispatch->shader;
    if (!marks.has_crashed(gpu::AttemptKind::pipeline, shader) &&
        !marks.has_crashed(gpu::AttemptKind::dispatch, shader))
      continue;
    const KernelId kernel = kernel_id(*task.dispatch);
    const std::string text = kernel.text();
    if (verdicts_.wrong.contains(text)) continue;
    verdicts_.right.erase(text);
    verdicts_.unchecked.erase(text);
    found.wrong.emplace(
        text,
        wrong_kernel(kernel, "an earlier process ended, or lost the device, when it tried this shader"));
  }
  if (found.wrong.empty()) return false;
  add(context, std::move(found));
  return true;
}

void FirstUseCheck::forget(const gpu::Context& context) {
  const std::lock_guard lock(mutex_);
  is_read_ = true;
  verdicts_ = {};
  wrong_ = std::make_shared<const WrongKernels>();
  std::error_code ignored;
  const std::filesystem::path& folder = context.options().cache_folder;
  if (!folder.empty()) std::filesystem::remove(verdicts_path(folder, context.caps()), ignored);
}

std::shared_ptr<const WrongKernels> FirstUseCheck::wrong_kernels(const gpu::Context& context) {
  const std::lock_guard lock(mutex_);
  read(context);
  return wrong_;
}

void FirstUseCheck::read(const gpu::Context& context) {
  if (std::exchange(is_read_, true)) return;
  const gpu::ContextOptions& options = context.options();
  if (options.cache_folder.empty()) return;
  verdicts_ = read_verdicts(options.cache_folder, context.caps(), options.log);
  wrong_ = std::make_shared<const WrongKernels>(verdicts_.wrong);
}

void FirstUseCheck::add(const gpu::Context& context, KernelVerdicts found) {
  verdicts_.right.merge(found.right);
  verdicts_.unchecked.merge(found.unchecked);
  verdicts_.wrong.merge(found.wrong);
  wrong_ = std::make_shared<const WrongKernels>(verdicts_.wrong);
  const std::filesystem::path& folder = context.options().cache_folder;
  if (folder.empty()) return;
  try {
    write_verdicts(folder, context.caps(), verdicts_);
  } catch (const Error& error) {
    context.log(LogLevel::warning, std::string("kernels will be checked again next time: ") + error.what());
  }
}

}  // namespace vellum
