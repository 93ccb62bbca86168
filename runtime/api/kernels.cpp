#include "vellum/kernels.hpp"

#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/target.hpp"
#include "caps/device_rates.hpp"
#include "exec/pipeline_keys.hpp"
#include "vulkan/pipeline_statistics.hpp"

namespace vellum {
namespace {

// The sum of the statistics of these names; NaN if the driver gives none of them.
double sum_of(const std::vector<KernelStatistic>& statistics,
              std::initializer_list<std::string_view> names) {
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

KernelPipeline kernel_pipeline(gpu::Context& context, const gpu::PipelineKey& key, bool representations) {
  KernelPipeline pipeline{.shader = key.shader, .defines = key.defines, .workgroup_size = key.workgroup_size};
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

KernelDispatch kernel_dispatch(const Program& program, const Dispatch& dispatch,
                               const KernelPipeline& pipeline, const std::optional<DeviceRates>& rates) {
  KernelDispatch result{.name = dispatch.name, .op = dispatch.op, .workgroups = dispatch.workgroup_count};
  const uint64_t workgroups = product(dispatch.workgroup_count), size = product(dispatch.workgroup_size);
  // A driver that makes several executables lists them by width, and runs the widest that fits.
  const uint32_t subgroup = pipeline.code.empty() ? 0 : pipeline.code.back().subgroup_size;
  result.invocations = workgroups * size;
  if (subgroup > 0) result.subgroups = workgroups * ((size + subgroup - 1) / subgroup);
  result.macs = dispatch.macs;
  result.bytes = bound_bytes(program, dispatch);
  // 1e9 a second are 1e3 a microsecond.
  result.compute_us = rates ? static_cast<double>(result.macs) / (1e3 * rates->gigamacs_per_s) : std::nan("");
  result.memory_us =
      rates ? static_cast<double>(result.bytes) / (1e3 * rates->gigabytes_per_s) : std::nan("");
  return result;
}

}  // namespace

std::optional<DeviceRates> known_rates(const DeviceInfo& device) {
  const std::optional<ChipRates> chip = chip_rates(device.name);
  if (!chip) return std::nullopt;
  return DeviceRates{chip->gigamacs_per_s, chip->gigabytes_per_s, chip->units};
}

KernelReport kernels(const Device& device, const Model& model, const SessionOptions& options,
                     const KernelReportOptions& report_options) {
  return guard([&] {
    gpu::Context& context = *impl(device)->context;
    const Program program = Target(&device).compile(model, options, Stage::program).program;
    const std::vector<gpu::PipelineKey> keys = pipeline_keys(program);
    KernelReport report;
    report.device = context.caps().name;
    report.driver = context.caps().driver;
    report.rates = report_options.rates ? report_options.rates : known_rates(device.info());
    std::map<gpu::PipelineKey, size_t> known;
    size_t next = 0;
    for (const Task& task : program.tasks) {
      if (!task.dispatch) continue;
      const gpu::PipelineKey& key = keys[next++];
      const auto [place, is_new] = known.emplace(key, report.pipelines.size());
      if (is_new) report.pipelines.push_back(kernel_pipeline(context, key, report_options.representations));
      KernelDispatch& dispatch = report.dispatches.emplace_back(
          kernel_dispatch(program, *task.dispatch, report.pipelines[place->second], report.rates));
      dispatch.pipeline = place->second;
    }
    return report;
  });
}

}  // namespace vellum
