#include "passes/shapes/shape_inputs.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "graph/shape_operands.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The inputs that a value depends on: a bit for each of the first that may decide shapes, the last bit for
// everything else that is known only in a run.
using Sources = uint64_t;
constexpr size_t kMostShapeInputs = 63;
constexpr Sources kRunTime = Sources{1} << kMostShapeInputs;

// Without overflow.
bool has_few_elements(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t dim : shape) {
    if (dim == 0) return true;
    elements = std::min(elements, kMostShapeValues + 1) * std::min(dim, kMostShapeValues + 1);
  }
  return elements <= kMostShapeValues;
}

// Without a shape in the file, integers may be sizes.
bool may_decide_shapes(const Value& input) {
  const Shape& shape = input.type.shape;
  if (input.type_known && is_known(shape)) return has_few_elements(shape);
  return (!input.type_known || shape.size() <= 1) &&
         (!is_float(input.type.dtype) || (input.type_known && shape.size() == 1));
}

class SourceTracer {
 public:
  // Returns the sources of the graph's outputs. NOLINTNEXTLINE(misc-no-recursion): LoadLimits::nesting
  std::vector<Sources> trace(const Graph& graph, const std::vector<Sources>& inputs) {
    std::vector<Sources> sources(graph.values.size(), 0);
    for (size_t i = 0; i < graph.inputs.size(); ++i) sources[graph.inputs[i]] = inputs[i];
    const auto source = [&](ValueId id) { return id == kNoValue ? Sources{0} : sources[id]; };
    traced_ += graph.nodes.size();
    for (const Node& node : graph.nodes) {
      Sources all = 0;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        all |= source(node.inputs[i]);
        if (decides_shape(*node.op, i)) demand(source(node.inputs[i]));
      }
      if (node.op->reads_types_only()) all = 0;
      if (const auto* loop = dynamic_cast<const LoopOperator*>(node.op.get()))
        trace_loop(*loop, node, source);
      std::vector<Sources> results(node.outputs.size(), all);
      if (const auto* choice = dynamic_cast<const If*>(node.op.get()))
        results = trace_branches(*choice, node, source);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) sources[node.outputs[i]] = results[i];
    }
    std::vector<Sources> outputs;
    for (const ValueId id : graph.outputs) outputs.push_back(source(id));
    return outputs;
  }

  Sources demanded() const { return demanded_; }

 private:
  // Returns the sources of the node's outputs. NOLINTNEXTLINE(misc-no-recursion)
  std::vector<Sources> trace_branches(const If& choice, const Node& node, const auto& source) {
    std::vector<Sources> outputs(node.outputs.size(), source(node.inputs[0]));
    for (const bool condition : {true, false}) {
      const Graph& branch = choice.branch(condition);
      std::vector<Sources> inputs;
      for (size_t i = 0; i < branch.inputs.size(); ++i)
        inputs.push_back(source(node.inputs[choice.first_input(condition) + i]));
      const std::vector<Sources> of_branch = trace(branch, inputs);
      for (size_t i = 0; i < outputs.size(); ++i) outputs[i] |= of_branch[i];
    }
    return outputs;
  }

  // Loops within loops are traced again with each outer one; what is not traced any more is not found.
  static constexpr uint64_t kMostTraced = 1 << 22;

  // The states of an iteration depend on what those of earlier ones do.
  // NOLINTNEXTLINE(misc-no-recursion)
  void trace_loop(const LoopOperator& loop, const Node& node, const auto& source) {
    std::vector<Sources> inputs{0};
    for (size_t i = 1; i < loop.first_element(); ++i) inputs.push_back(source(node.inputs[i]));
    for (bool changed = true; changed;) {
      changed = false;
      if (traced_ > kMostTraced) return;
      const std::vector<Sources> outputs = trace(loop.body, inputs);
      for (size_t i = 0; i <= loop.states; ++i) {
        const Sources all = inputs[1 + i] | outputs[i];
        changed = changed || all != inputs[1 + i];
        inputs[1 + i] = all;
      }
    }
    demand(inputs[1]);
  }

  void demand(Sources sources) {
    if ((sources & kRunTime) == 0) demanded_ |= sources;
  }

  Sources demanded_ = 0;
  uint64_t traced_ = 0;
};

[[noreturn]] void refuse(const std::string& name, const std::string& why,
                         ErrorCode code = ErrorCode::invalid_argument) {
  throw Error(code, "the values given for input '" + name + "' " + why);
}

}  // namespace

std::vector<bool> find_shape_inputs(const Graph& graph) {
  std::vector<Sources> sources;
  size_t next = 0;
  for (const ValueId id : graph.inputs)
    sources.push_back(next < kMostShapeInputs && may_decide_shapes(graph.values[id]) ? Sources{1} << next++
                                                                                     : kRunTime);
  std::vector<bool> found(graph.inputs.size(), false);
  if (next == 0) return found;
  SourceTracer tracer;
  tracer.trace(graph, sources);
  for (size_t i = 0; i < sources.size(); ++i) found[i] = (tracer.demanded() & sources[i] & ~kRunTime) != 0;
  return found;
}

void check_input_values(const Graph& graph, const std::vector<bool>& shape_inputs,
                        const InputTensors& values) {
  for (const auto& [name, tensor] : values) {
    const auto input =
        std::ranges::find(graph.inputs, name, [&](ValueId id) { return graph.values[id].name; });
    if (input == graph.inputs.end()) refuse(name, "are of no input of the model");
    const TensorType& declared = graph.values[*input].type;
    if (!shape_inputs[static_cast<size_t>(input - graph.inputs.begin())])
      refuse(name, "decide no shape: they belong to each run");
    if (tensor.dtype() != declared.dtype)
      refuse(name, "are " + std::string(vellum::name(tensor.dtype())) + ", expected " +
                       std::string(vellum::name(declared.dtype)));
    if (tensor.elements() > kMostShapeValues)
      refuse(name,
             "are " + std::to_string(tensor.elements()) + ", more than " + std::to_string(kMostShapeValues) +
                 ", the most that may decide shapes",
             ErrorCode::unsupported);
  }
}

}  // namespace vellum
