#include "probe.hpp"

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "api/impl.hpp"
#include "api/target.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum::ort {
namespace {

// Sizes for open dimensions, one after the other until the network accepts one. The first dimension is 1.
constexpr int64_t kSizes[] = {256, 320, 48, 32, 1};

InputShapes shapes_with(const Network& network, const Graph& part, int64_t size) {
  std::unordered_map<std::string, ValueId> ids;
  for (ValueId id = 0; id < network.graph.values.size(); ++id) ids[network.graph.values[id].name] = id;
  std::map<std::string, int64_t> symbols;
  InputShapes shapes;
  for (const ValueId own : part.inputs) {
    const std::string& name = part.values[own].name;
    const std::vector<Dimension>& dimensions = *network.dimensions[ids.at(name)];
    Shape shape;
    for (const Dimension& dimension : dimensions) {
      int64_t chosen = dimension.size;
      if (chosen == kUnknownDim) chosen = shape.empty() ? 1 : size;
      // Dimensions of one name are equal.
      if (dimension.size == kUnknownDim && !dimension.symbol.empty())
        chosen = symbols.emplace(dimension.symbol, chosen).first->second;
      shape.push_back(chosen);
    }
    shapes[name] = shape;
  }
  return shapes;
}

bool has_open_inputs(const Graph& part) {
  return std::ranges::any_of(part.inputs, [&](ValueId id) { return !is_known(part.values[id].type.shape); });
}

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

Probe probe_compiled(const CompiledModel& compiled, const DeviceCaps& caps) {
  Probe result;
  for (const Task& task : compiled.program.tasks) {
    if (task.dispatch) ++result.dispatches;
    if (!task.host) continue;
    for (const Node& node : task.host->graph->nodes)
      result.refused[node.name] = task.host->has_run_time_shapes
                                      ? "only a run determines the shapes of its results"
                                      : "Vellum has no kernel for this form of it";
  }
  if (!result.refused.empty()) return result;
  result.device_us = device_microseconds(compiled, caps);
  result.host_us = host_microseconds(compiled.graph);
  return result;
}

Probe probe_error(const Graph& part, const Error& error) {
  Probe result;
  const std::string message = error.what();
  for (const Node& node : part.nodes)
    if (message.find(describe(node)) != std::string::npos) {
      result.refused[node.name] = message;
      return result;
    }
  result.failure = message;
  return result;
}

// Calls `work` with the compiled part for the first sizes that it accepts. Returns the first error if it
// accepts none.
template <typename Work>
std::optional<Error> compile_with_likely_shapes(const Network& network, const Graph& part,
                                                const Device& device, const SessionOptions& options,
                                                Work&& work) {
  const bool open = has_open_inputs(part);
  const Model model = Handles::model(std::make_shared<const Model::Impl>(part));
  SessionOptions tried = options;
  tried.memory_budget = 0;  // decides how the part runs, not whether
  const Target target(&device);
  std::optional<Error> first;
  for (const int64_t size : kSizes) {
    tried.input_shapes = shapes_with(network, part, size);
    try {
      work(target.compile(model, tried), target.caps(), tried.input_shapes);
      return std::nullopt;
    } catch (const Error& error) {
      const bool may_be_the_shape = error.code() == ErrorCode::corrupt_model ||
                                    error.code() == ErrorCode::invalid_argument ||
                                    error.code() == ErrorCode::unsupported;
      if (!may_be_the_shape) throw;
      if (!first) first = error;
      if (!open) break;
    }
  }
  return first;
}

}  // namespace

std::optional<InputShapes> likely_shapes(const Network& network, const Graph& part, const Device& device,
                                         const SessionOptions& options) {
  std::optional<InputShapes> found;
  compile_with_likely_shapes(
      network, part, device, options,
      [&](const CompiledModel&, const DeviceCaps&, const InputShapes& shapes) { found = shapes; });
  return found;
}

Probe probe(const Network& network, Graph part, const Device& device, const SessionOptions& options) {
  const Model model = Handles::model(std::make_shared<const Model::Impl>(part));
  for (const TensorInfo& input : model.inputs())
    if (input.decides_shapes) {
      Probe result;  // sizes are unknown before a run
      result.dispatches = part.nodes.size();
      return result;
    }
  Probe result;
  const std::optional<Error> error =
      compile_with_likely_shapes(network, part, device, options,
                                 [&](const CompiledModel& compiled, const DeviceCaps& caps,
                                     const InputShapes&) { result = probe_compiled(compiled, caps); });
  return error ? probe_error(part, *error) : result;
}

}  // namespace vellum::ort
