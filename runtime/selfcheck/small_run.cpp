#include "selfcheck/small_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "exec/executor.hpp"
#include "exec/host_values.hpp"
#include "exec/weight_store.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "vellum/error.hpp"
#include "vulkan/crash_marks.hpp"

namespace vellum {
namespace {

// Winograd's larger tile loses a few more digits than other kernels in fp32.
constexpr double kBoundFp32 = 1e-3, kBoundFp16 = 3e-2;

bool are_alike(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double largest_magnitude(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values)
    if (std::isfinite(value)) largest = std::max<double>(largest, std::abs(value));
  return largest;
}

// A NaN or an infinity of the device alone is as wrong as can be, and so is one of the host alone.
double relative_error(const HostTensor& got, const HostTensor& want, ErrorScale scale) {
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  const double least_scale = scale == ErrorScale::output ? std::max(1.0, largest_magnitude(b)) : 1.0;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (are_alike(a[i], b[i])) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return std::numeric_limits<double>::quiet_NaN();
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = std::max(largest, error / std::max<double>(least_scale, std::abs(b[i])));
  }
  return largest;
}

void set_inputs(Executor& executor, const std::vector<HostTensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
}

// Returns the results of a run in memory that was filled before: a driver that computes nothing would
// otherwise leave what the memory held, which may be right results of an earlier run. The fills have barriers
// that a missing one could hide behind, so that repetitions run without them.
std::vector<HostTensor> poisoned_run(const std::shared_ptr<gpu::Context>& context,
                                     const std::shared_ptr<const CompiledModel>& model,
                                     const std::shared_ptr<WeightSource>& weights,
                                     const std::vector<HostTensor>& inputs, size_t count) {
  Executor executor(context, model, {.poison_memory = true}, weights);
  set_inputs(executor, inputs);
  executor.run();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < count; ++i) outputs.push_back(executor.output(i));
  return outputs;
}

// Negates real numbers. Integers may be indices, and stay.
std::vector<HostTensor> other_inputs(std::vector<HostTensor> inputs) {
  for (HostTensor& input : inputs)
    if (input.dtype() == DType::f32)
      for (float& value : input.mutable_as<float>()) value = -value;
  return inputs;
}

// Between the repetitions the program computes something else: a workgroup that did not run would otherwise
// leave the right result of the repetition before.
void require_equal_repetitions(Executor& executor, const std::vector<HostTensor>& inputs,
                               const std::vector<HostTensor>& first, uint32_t repetitions) {
  const std::vector<HostTensor> others = other_inputs(inputs);
  for (uint32_t repetition = 2; repetition <= repetitions; ++repetition) {
    set_inputs(executor, others);
    executor.run();
    set_inputs(executor, inputs);
    executor.run();
    for (size_t i = 0; i < first.size(); ++i)
      if (!have_same_bits(executor.output(i), first[i]))
        throw Error(ErrorCode::internal, "repetition " + std::to_string(repetition) + " of " +
                                             std::to_string(repetitions) +
                                             " gives another result than the first");
  }
}

}  // namespace

double error_bound(Precision precision) { return precision == Precision::fp32 ? kBoundFp32 : kBoundFp16; }

double error_on_device(const std::shared_ptr<gpu::Context>& context, Program program,
                       const SmallOperator& small, const std::vector<HostTensor>& want,
                       uint32_t repetitions) {
  // Each tensor has memory of its own: whether they may share it is another check (reuse_check.hpp).
  const auto model = compile_program(context, std::move(program), {.mode = MemoryMode::naive});
  const auto weights = std::make_shared<WeightStore>(context);
  const std::vector<HostTensor> got = poisoned_run(context, model, weights, small.inputs, want.size());
  double error = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double one = relative_error(got[i], want[i], small.error_scale);
    if (!(one <= error)) error = one;
    if (std::isnan(error)) break;
  }
  if (repetitions > 1) {
    Executor executor(context, model, {}, weights);
    require_equal_repetitions(executor, small.inputs, got, repetitions);
  }
  return error;
}

double MarkedRuns::error(const SmallOperator& small, Program program, const std::vector<HostTensor>& want) {
  double found = 0;
  run(small.name, program,
      [&] { found = error_on_device(context_, std::move(program), small, want, repetitions_); });
  return found;
}

void MarkedRuns::run(const std::string& name, const Program& program, const std::function<void()>& function) {
  std::set<std::string> new_shaders, conversions;
  for (const Task& task : program.tasks) {
    if (!task.dispatch || survived_.contains(task.dispatch->shader)) continue;
    (is_conversion(kernel_id(*task.dispatch)) ? conversions : new_shaders).insert(task.dispatch->shader);
  }
  // Conversions are in most programs, so that they would count wherever another shader is the cause.
  const std::set<std::string>& tried = new_shaders.empty() ? conversions : new_shaders;
  gpu::CrashMarks& marks = context_->crash_marks();
  std::vector<gpu::Attempt> attempts;
  for (const std::string& shader : tried) {
    attempts.push_back(
        {gpu::AttemptKind::dispatch, shader, "ran shader '" + shader + "' for '" + name + "'"});
    if (marks.has_crashed(gpu::AttemptKind::dispatch, shader))
      throw Error(ErrorCode::unsupported,
                  "an earlier process ended, or lost the device, when it ran shader '" + shader + "'");
  }
  gpu::attempt_dispatch(marks, attempts, [&] { function(); });
  survived_.merge(new_shaders);
  survived_.merge(conversions);
}

}  // namespace vellum
