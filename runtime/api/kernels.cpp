#include "vellum/kernels.hpp"

#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/target.hpp"
#include "compile/tiles.hpp"
#include "cost/device_rates.hpp"
#include "exec/pipeline_keys.hpp"
#include "plan/dispatch_model.hpp"
#include "vulkan/pipeline_statistics.hpp"

namespace vellum {
namespace {

// Returns the sum of the statistics with these names; NaN if the driver reports none of them.
double sum_of(const std::vector<KernelStatistic>& statistics, std::initializer_list<std::string_view> names) {
  double sum = std::nan("");
  for (const KernelStatistic& statistic : statistics)
    for (const std::string_view name : names)
      if (statistic.name == name) sum = (std::isnan(sum) ? 0 : sum) + statistic.value;
  return sum;
}

// Names of Mesa's RADV, Turnip, ANV, NVK and PanVK, in this order, and of NVIDIA's driver.
KernelCode kernel_code(gpu::PipelineExecutable executable) {
  const auto of = [&](std::initializer_list<std::string_view> names) {
    return sum_of(executable.statistics, names);
  };
  KernelCode code;
  code.name = std::move(executable.name);
  code.subgroup_size = executable.subgroup_size;
  code.registers = of({"VGPRs", "Registers used", "Max live registers", "Register Count", "Number of GPRs"});
  code.spills =
      of({"Spilled VGPRs", "Spilled SGPRs", "STP Count", "Spill Count", "Spills to memory", "Spills"});
  code.resident_subgroups = of({"Subgroups per SIMD", "Max Waves Per Core", "Max warps/SM"});
  code.shared_memory_bytes = of({"LDS size", "Workgroup Memory Size", "SLM Size", "Shared Memory Size"});
  code.instructions = of({"Instructions", "Instruction Count", "Instruction count"});
  code.cycles = of({"Inverse Throughput", "Cycle Count", "Static cycle count"});
  code.statistics = std::move(executable.statistics);
  code.representations = std::move(executable.representations);
  return code;
}

// Returns the macros as text, without those that describe tensors.
std::string variant(const std::vector<std::pair<std::string, std::string>>& defines) {
  std::string text;
  for (const auto& [name, value] : defines) {
    if (is_tensor_macro(name) || name.find('_') == 1) continue;
    text += (text.empty() ? "" : " ") + (value.empty() ? name : name + "=" + value);
  }
  return text;
}

KernelPipeline kernel_pipeline(const gpu::PipelineKey& key) {
  return {.shader = key.shader,
          .defines = key.defines,
          .variant = variant(key.defines),
          .workgroup_size = key.workgroup_size};
}

// Compiles the pipeline.
KernelPipeline kernel_pipeline(gpu::Context& context, const gpu::PipelineKey& key, bool representations) {
  KernelPipeline pipeline = kernel_pipeline(key);
  for (gpu::PipelineExecutable& executable : gpu::pipeline_statistics(context, key, representations))
    pipeline.code.push_back(kernel_code(std::move(executable)));
  return pipeline;
}

void set_times(KernelDispatch& result, const DispatchTime& time) {
  result.compute_us = time.compute_us;
  result.memory_us = time.memory_us;
  result.latency_us = time.latency_us;
  result.overhead_us = time.overhead_us;
  result.busy = time.busy;
  result.waves = time.waves;
}

// Copies the figures of a kernel that do not depend on the device's rates.
void set_figures(KernelDispatch& result, const DispatchModel& model) {
  result.invocations = model.invocations;
  result.bytes = model.bytes;
  result.steps = model.figures.steps + model.figures.last_steps;
  result.efficiency = model.efficiency;
}

KernelDispatch kernel_dispatch(const Dispatch& dispatch, bool barrier) {
  return {.name = dispatch.name,
          .op = dispatch.op,
          .workgroups = dispatch.workgroup_count,
          .macs = dispatch.macs,
          .barrier = barrier};
}

void predict(KernelDispatch& result, DispatchModel model, const KernelCode* code, const DeviceRates& rates) {
  model.figures.subgroups = static_cast<double>(result.subgroups);
  if (code) model.figures.subgroup_size = code->subgroup_size;
  if (code && !std::isnan(code->resident_subgroups)) model.figures.resident = code->resident_subgroups;
  const DispatchTime time = dispatch_time(rates, model.figures);
  set_times(result, time);
  result.predicted_us = time.total_us(model.efficiency);
}

// Returns the report of a dispatch whose pipeline the driver compiled.
KernelDispatch compiled_dispatch(const Program& program, const Dispatch& dispatch, bool barrier,
                                 const KernelPipeline& pipeline, const DeviceRates* rates,
                                 const DeviceTraits& traits) {
  KernelDispatch result = kernel_dispatch(dispatch, barrier);
  // A driver that makes several executables lists them by width, and runs the widest that fits.
  const KernelCode* code = pipeline.code.empty() ? nullptr : &pipeline.code.back();
  if (code && code->subgroup_size > 0) result.subgroups = subgroups_of(dispatch, code->subgroup_size);
  const DispatchModel model = dispatch_model(program, dispatch, barrier, traits);
  set_figures(result, model);
  if (rates)
    predict(result, model, code, *rates);
  else
    for (double* unknown : {&result.compute_us, &result.memory_us, &result.predicted_us, &result.latency_us,
                            &result.overhead_us, &result.busy, &result.waves})
      *unknown = std::nan("");
  return result;
}

KernelDispatch uncompiled_dispatch(const Program& program, const Dispatch& dispatch, bool barrier,
                                   const DeviceCaps& caps, const DeviceRates& rates, double share_of_x) {
  KernelDispatch result = kernel_dispatch(dispatch, barrier);
  const PredictedDispatch predicted = predicted_dispatch(program, dispatch, barrier, caps, rates, share_of_x);
  result.subgroups = static_cast<uint64_t>(predicted.model.figures.subgroups);
  set_figures(result, predicted.model);
  set_times(result, predicted.time);
  result.predicted_us = predicted.total_us;
  return result;
}

// Lists the pipelines and dispatches of a program. make_pipeline(key) makes what is listed of a pipeline,
// make_dispatch(task, pipeline) of a dispatch.
template <typename MakePipeline, typename MakeDispatch>
void list_kernels(const Program& program, KernelReport& report, const MakePipeline& make_pipeline,
                  const MakeDispatch& make_dispatch) {
  const std::vector<gpu::PipelineKey> keys = pipeline_keys(program);
  std::map<gpu::PipelineKey, size_t> known;
  size_t next = 0;
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    if (!program.tasks[i].dispatch) continue;
    const gpu::PipelineKey& key = keys[next++];
    const auto [place, is_new] = known.emplace(key, report.pipelines.size());
    if (is_new) report.pipelines.push_back(make_pipeline(key));
    report.dispatches.push_back(make_dispatch(i, report.pipelines[place->second]));
    report.dispatches.back().pipeline = place->second;
  }
}

}  // namespace

std::optional<DeviceRates> known_rates(const DeviceInfo& device) {
  const std::optional<ChipRates> chip = chip_rates(device.name);
  if (!chip) return std::nullopt;
  return device_rates(*chip);
}

KernelReport kernels(const Device& device, const Model& model, const SessionOptions& options,
                     const KernelReportOptions& report_options) {
  return guard([&] {
    gpu::Context& context = *impl(device)->context;
    const CompiledModel compiled = Target(&device).compile(model, options);
    const Program& program = compiled.program;
    KernelReport report{.device = context.caps().name, .driver = context.caps().driver};
    const DeviceTraits& traits = device_traits(context.caps());
    report.rates = report_options.rates ? report_options.rates : known_rates(device.info());
    if (report.rates) report.rates = with_latencies(*report.rates, traits);
    list_kernels(
        program, report,
        [&](const gpu::PipelineKey& key) {
          return kernel_pipeline(context, key, report_options.representations);
        },
        [&](size_t task, const KernelPipeline& pipeline) {
          return compiled_dispatch(program, *program.tasks[task].dispatch,
                                   compiled.barriers[task].needs_command(), pipeline,
                                   report.rates ? &*report.rates : nullptr, traits);
        });
    return report;
  });
}

KernelReport predicted_kernels(const Device& device, const Model& model, const SessionOptions& options) {
  return guard([&] {
    const DeviceCaps& caps = impl(device)->context->caps();
    const CompiledModel compiled = Target(&device).compile(model, options);
    const Program& program = compiled.program;
    KernelReport report{.device = caps.name, .driver = caps.driver, .rates = device_rates(caps)};
    const std::vector<double> shares = shares_of_x(compiled.graph, program);
    list_kernels(
        program, report, [&](const gpu::PipelineKey& key) { return kernel_pipeline(key); },
        [&](size_t task, const KernelPipeline&) {
          return uncompiled_dispatch(program, *program.tasks[task].dispatch,
                                     compiled.barriers[task].needs_command(), caps, *report.rates,
                                     shares[task]);
        });
    return report;
  });
}

}  // namespace vellum
