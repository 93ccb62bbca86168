#include "predicted_times.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "graph/operator_support.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum::plugin {
namespace {

uint64_t bytes_of(const TensorType& type) {
  return is_known(type.shape) ? static_cast<uint64_t>(element_count(type.shape)) * size_of(type.dtype) : 0;
}

uint64_t bytes_of(const Graph& graph, const std::vector<ValueId>& values) {
  uint64_t bytes = 0;
  for (const ValueId id : values)
    if (id != kNoValue && !graph.values[id].constant) bytes += bytes_of(graph.values[id].type);
  return bytes;
}

// Rates of the runtime's kernels on a common processor. They decide only whether a part is worth its
// transfers, so a factor of two matters little.
double host_microseconds(const Graph& graph) {
  constexpr double kMacs = 12e3, kBytes = 8e3, kNode = 2;  // per microsecond: of a core; of the memory
  const double cores = std::clamp(static_cast<double>(std::thread::hardware_concurrency()) / 2, 1.0, 8.0);
  double time = 0;
  for (const Node& node : graph.nodes) {
    const double macs = static_cast<double>(node.op->macs(operator_inputs(graph, node))) / (kMacs * cores);
    const double bytes =
        static_cast<double>(bytes_of(graph, node.inputs) + bytes_of(graph, node.outputs)) / kBytes;
    time += kNode + std::max(macs, bytes);
  }
  return time;
}

double device_microseconds(const CompiledModel& compiled, const DeviceCaps& caps) {
  constexpr double kSubmit = 60, kBytes = 6e3;  // a submit and its wait; bytes of transfers per microsecond
  double time = kSubmit;
  for (const double ms : predicted_milliseconds(compiled.program, compiled.barriers, caps)) time += 1e3 * ms;
  const uint64_t transfers =
      bytes_of(compiled.graph, compiled.graph.inputs) + bytes_of(compiled.graph, compiled.graph.outputs);
  return time + static_cast<double>(transfers) / kBytes;
}

}  // namespace

PredictedTimes predict_times(const CompiledModel& compiled, const DeviceCaps& caps) {
  return {device_microseconds(compiled, caps), host_microseconds(compiled.graph)};
}

std::string describe(const PredictedTimes& times) {
  const auto in_us = [](double us) { return std::to_string(std::lround(us)) + " us"; };
  return "predicted to take " + in_us(times.device_us) + " on the device and " + in_us(times.host_us) +
         " with the runtime";
}

size_t count_dispatches(const CompiledModel& compiled) {
  return static_cast<size_t>(std::ranges::count_if(
      compiled.program.tasks, [](const Task& task) { return static_cast<bool>(task.dispatch); }));
}

std::map<std::string, std::string> nodes_without_kernel(const CompiledModel& compiled) {
  std::map<std::string, std::string> result;
  for (const Task& task : compiled.program.tasks) {
    if (!task.host) continue;
    for (const Node& node : task.host->graph->nodes)
      result[node.name] = task.host->has_run_time_shapes ? "only a run determines the shapes of its results"
                                                         : "Vellum has no kernel for this form of it";
  }
  return result;
}

}  // namespace vellum::plugin
