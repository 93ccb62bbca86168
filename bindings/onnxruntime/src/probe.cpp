#include "probe.hpp"

#include <algorithm>
#include <unordered_map>

#include "api/impl.hpp"
#include "api/target.hpp"

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

Probe probe_compiled(const CompiledModel& compiled, const DeviceCaps& caps) {
  Probe result;
  result.refused = plugin::nodes_without_kernel(compiled);
  result.dispatches = plugin::count_dispatches(compiled);
  if (result.refused.empty()) result.times = plugin::predict_times(compiled, caps);
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
