#include "reports.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernel_output.hpp"
#include "vellum/kernel_check.hpp"

namespace vellum::cli {
namespace {

// Rises when a member changes its meaning or goes.
constexpr int kReportVersion = 1;

#if defined(_WIN32)
constexpr const char* kSystem = "Windows";
#elif defined(__ANDROID__)
constexpr const char* kSystem = "Android";
#elif defined(__APPLE__)
constexpr const char* kSystem = "macOS";
#else
constexpr const char* kSystem = "Linux";
#endif

nlohmann::json microseconds_json(double milliseconds) { return figure_json(1e3 * milliseconds); }

// The indices of the layers that ran on the device. Empty if they are not the dispatches of the report.
std::vector<size_t> device_layers(const KernelReport& kernels, const LayerTimes& times) {
  std::vector<size_t> layers;
  for (size_t l = 0; l < times.layers.size(); ++l)
    if (!times.layers[l].shader.empty()) layers.push_back(l);
  if (layers.size() != kernels.dispatches.size()) return {};
  for (size_t d = 0; d < layers.size(); ++d)
    if (times.layers[layers[d]].shader != kernels.pipelines[kernels.dispatches[d].pipeline].shader) return {};
  return layers;
}

// Names of nodes are left out: they are the model's.
nlohmann::json to_json(const KernelDispatch& dispatch) {
  return {{"op", dispatch.op},
          {"pipeline", dispatch.pipeline},
          {"workgroups", dispatch.workgroups},
          {"subgroups", dispatch.subgroups},
          {"macs", dispatch.macs},
          {"bytes", dispatch.bytes},
          {"barrier", dispatch.barrier},
          {"compute_us", figure_json(dispatch.compute_us)},
          {"memory_us", figure_json(dispatch.memory_us)},
          {"latency_us", figure_json(dispatch.latency_us)},
          {"overhead_us", figure_json(dispatch.overhead_us)},
          {"busy", figure_json(dispatch.busy)},
          {"waves", figure_json(dispatch.waves)},
          {"efficiency", dispatch.efficiency},
          {"predicted_us", figure_json(dispatch.predicted_us)}};
}

}  // namespace

nlohmann::json report_head(const std::string& kind, const Device& device) {
  return {{"report", kind},
          {"version", kReportVersion},
          {"vellum", VELLUM_VERSION_TEXT},
          {"system", kSystem},
          {"caps", nlohmann::json::parse(Caps::of(device).json())},
          {"crashes", crashes(device)},
          {"validation_messages", device.validation_messages()}};
}

nlohmann::json dispatches_report(const Device& device, const KernelReport& kernels, const LayerTimes& times) {
  nlohmann::json pipelines = nlohmann::json::array(), dispatches = nlohmann::json::array();
  for (const KernelPipeline& pipeline : kernels.pipelines)
    pipelines.push_back({{"shader", pipeline.shader},
                         {"variant", pipeline.variant},
                         {"workgroup_size", pipeline.workgroup_size}});
  const std::vector<size_t> layers = device_layers(kernels, times);
  for (size_t d = 0; d < kernels.dispatches.size(); ++d) {
    nlohmann::json entry = to_json(kernels.dispatches[d]);
    const bool is_timed = !layers.empty();
    entry["storage"] = is_timed ? nlohmann::json(times.layers[layers[d]].storage) : nullptr;
    entry["gpu_us"] = is_timed ? microseconds_json(times.alone[layers[d]]) : nullptr;
    entry["pause_us"] = is_timed ? microseconds_json(times.pause[layers[d]]) : nullptr;
    dispatches.push_back(std::move(entry));
  }
  nlohmann::json rates = rates_json(kernels.rates);
  if (!rates.is_null()) rates["chip_is_known"] = known_rates(device.info()).has_value();
  return {{"rates", std::move(rates)},
          {"pipelines", std::move(pipelines)},
          {"dispatches", std::move(dispatches)}};
}

}  // namespace vellum::cli
