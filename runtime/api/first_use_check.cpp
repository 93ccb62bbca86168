#include "api/first_use_check.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "selfcheck/check_used_kernels.hpp"
#include "vellum/error.hpp"

namespace vellum {

bool FirstUseCheck::passes(const std::shared_ptr<gpu::Context>& context, const Program& program,
                           Precision precision, Arithmetic arithmetic) {
  return each_passes(context, {&program, 1}, precision, arithmetic).front();
}

std::vector<bool> FirstUseCheck::each_passes(const std::shared_ptr<gpu::Context>& context,
                                             std::span<const Program> programs, Precision precision,
                                             Arithmetic arithmetic) {
  const std::lock_guard lock(mutex_);
  read(*context);
  UsedKernels unknown{.kernels = {}, .precision = precision, .arithmetic = arithmetic};
  std::set<std::string> texts;
  for (const Program& program : programs)
    for (const Task& task : program.tasks) {
      if (!task.dispatch) continue;
      KernelId kernel = kernel_id(*task.dispatch);
      std::string text = kernel.text();
      if (!verdicts_.knows(text) && texts.insert(std::move(text)).second)
        unknown.kernels.push_back(std::move(kernel));
    }
  if (!unknown.kernels.empty()) add(*context, check_used_kernels(context, unknown));
  std::vector<bool> passed;
  for (const Program& program : programs)
    passed.push_back(std::ranges::none_of(program.tasks, [&](const Task& task) {
      return task.dispatch && verdicts_.wrong.contains(kernel_id(*task.dispatch).text());
    }));
  return passed;
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
