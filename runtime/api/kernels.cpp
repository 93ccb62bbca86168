#include "vellum/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/target.hpp"
#include "caps/device_rates.hpp"
#include "caps/dispatch_time.hpp"
#include "caps/tile_code.hpp"
#include "exec/pipeline_keys.hpp"
#include "vulkan/pipeline_statistics.hpp"

namespace vellum {
namespace {

// The sum of the statistics of these names; NaN if the driver gives none of them.
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

// Macros of tensors begin with TENSOR_ and BINDING_, or with the letter of an access.
std::string variant(const std::vector<std::pair<std::string, std::string>>& defines) {
  std::string text;
  for (const auto& [name, value] : defines) {
    if (name.starts_with("TENSOR_") || name.starts_with("BINDING_") || name.find('_') == 1) continue;
    text += (text.empty() ? "" : " ") + (value.empty() ? name : name + "=" + value);
  }
  return text;
}

KernelPipeline kernel_pipeline(gpu::Context& context, const gpu::PipelineKey& key, bool representations) {
  KernelPipeline pipeline{.shader = key.shader,
                          .defines = key.defines,
                          .variant = variant(key.defines),
                          .workgroup_size = key.workgroup_size};
  for (gpu::PipelineExecutable& executable : gpu::pipeline_statistics(context, key, representations))
    pipeline.code.push_back(kernel_code(std::move(executable)));
  return pipeline;
}

uint64_t product(const std::array<uint32_t, 3>& sizes) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; }

// Bytes of the tensors that the dispatch binds, each once.
uint64_t bound_bytes(const Program& program, const Dispatch& dispatch) {
  std::map<TensorId, uint64_t> bytes;
  for (const Binding& binding : dispatch.bindings)
    bytes[binding.tensor] = program.tensors[binding.tensor].desc.byte_size();
  uint64_t sum = 0;
  for (const auto& [tensor, size] : bytes) sum += size;
  return sum;
}

int64_t number(const Dispatch& dispatch, std::string_view define) {
  for (const auto& [name, value] : dispatch.defines)
    if (name == define) return std::stoll(value);
  return 0;
}

bool has(const Dispatch& dispatch, std::string_view define) {
  return std::ranges::any_of(dispatch.defines, [&](const auto& row) { return row.first == define; });
}

// The share of the peak rate that the dispatch's kernel is taken to reach, and the loads of an invocation
// that wait for one another.
struct Loop {
  double efficiency = 1, steps = 0;
};

Loop loop_of(const Dispatch& dispatch, const KernelDispatch& figures, uint32_t vendor_id) {
  const auto invocations = static_cast<double>(std::max<uint64_t>(1, figures.invocations));
  const double macs = static_cast<double>(figures.macs) / invocations;
  // Without products an invocation loads texels of 16 bytes, four at a time.
  if (macs == 0) return {1, kStepsAround + static_cast<double>(figures.bytes) / invocations / 64};
  const OutputTile tile{number(dispatch, "TILE_P"), number(dispatch, "TILE_S")};
  // Depthwise kernels multiply texel by texel, and select zeros for the padding; half their instructions do
  // not multiply.
  if (tile.pixels * tile.slices == 0 || dispatch.shader.starts_with("conv_depthwise"))
    return {0.5, kStepsAround + macs / 16};
  const TileCode code = tile_code(vendor_id, tile, has(dispatch, "UNIFORM_SLICES"));
  // Some kernels load several slices, or all columns of a window, before they multiply.
  const auto together =
      static_cast<double>(std::max<int64_t>({1, number(dispatch, "AHEAD"), number(dispatch, "KERNEL_X")}));
  return {code.efficiency, kStepsAround + macs / (code.macs_per_step * together)};
}

void predict(KernelDispatch& result, const Loop& loop, const KernelCode* code, const DeviceRates& rates) {
  DispatchFigures figures{.macs = static_cast<double>(result.macs),
                          .bytes = static_cast<double>(result.bytes),
                          .subgroups = static_cast<double>(result.subgroups),
                          .steps = loop.steps,
                          .barrier = result.barrier};
  if (code) figures.subgroup_size = code->subgroup_size;
  if (code && !std::isnan(code->resident_subgroups)) figures.resident = code->resident_subgroups;
  const DispatchTime time = dispatch_time(rates, figures);
  result.compute_us = time.compute_us;
  result.memory_us = time.memory_us;
  result.latency_us = time.latency_us;
  result.overhead_us = time.overhead_us;
  result.busy = time.busy;
  result.waves = time.waves;
  result.predicted_us = time.total_us(loop.efficiency);
}

KernelDispatch kernel_dispatch(const Program& program, const Dispatch& dispatch, bool barrier,
                               const KernelPipeline& pipeline, const DeviceRates* rates, uint32_t vendor_id) {
  KernelDispatch result{.name = dispatch.name, .op = dispatch.op, .workgroups = dispatch.workgroup_count};
  const uint64_t workgroups = product(dispatch.workgroup_count), size = product(dispatch.workgroup_size);
  // A driver that makes several executables lists them by width, and runs the widest that fits.
  const KernelCode* code = pipeline.code.empty() ? nullptr : &pipeline.code.back();
  const uint32_t subgroup = code ? code->subgroup_size : 0;
  result.invocations = workgroups * size;
  if (subgroup > 0) result.subgroups = workgroups * ((size + subgroup - 1) / subgroup);
  result.macs = dispatch.macs;
  result.bytes = bound_bytes(program, dispatch);
  result.barrier = barrier;
  const Loop loop = loop_of(dispatch, result, vendor_id);
  result.steps = loop.steps;
  result.efficiency = loop.efficiency;
  if (rates)
    predict(result, loop, code, *rates);
  else
    for (double* unknown : {&result.compute_us, &result.memory_us, &result.predicted_us, &result.latency_us,
                            &result.overhead_us, &result.busy, &result.waves})
      *unknown = std::nan("");
  return result;
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
    const std::vector<gpu::PipelineKey> keys = pipeline_keys(program);
    KernelReport report;
    report.device = context.caps().name;
    report.driver = context.caps().driver;
    const uint32_t vendor_id = context.caps().vendor_id;
    report.rates = report_options.rates ? report_options.rates : known_rates(device.info());
    if (report.rates) report.rates = with_latencies(*report.rates, vendor_id);
    std::map<gpu::PipelineKey, size_t> known;
    size_t next = 0;
    for (size_t i = 0; i < program.tasks.size(); ++i) {
      if (!program.tasks[i].dispatch) continue;
      const gpu::PipelineKey& key = keys[next++];
      const auto [place, is_new] = known.emplace(key, report.pipelines.size());
      if (is_new) report.pipelines.push_back(kernel_pipeline(context, key, report_options.representations));
      KernelDispatch& dispatch = report.dispatches.emplace_back(kernel_dispatch(
          program, *program.tasks[i].dispatch, compiled.barriers[i].needs_command(),
          report.pipelines[place->second], report.rates ? &*report.rates : nullptr, vendor_id));
      dispatch.pipeline = place->second;
    }
    return report;
  });
}

}  // namespace vellum
