#include "support/rounding_study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/real.hpp"
#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/agreement.hpp"

namespace vellum::test {
namespace {

HostTensor widened(const HostTensor& tensor) {
  return is_float(tensor.dtype()) ? cast(tensor, DType::f64) : tensor;
}

Graph widened(Graph graph) {
  for (Value& value : graph.values) {
    if (is_float(value.type.dtype)) value.type.dtype = DType::f64;
    if (value.constant) value.constant = widened(*value.constant);
  }
  return graph;
}

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool sums_products(const Node& node) {
  return is_one_of(node.op->type(), {"Conv", "ConvTranspose", "Gemm", "MatMul"});
}

bool sums(const Node& node) {
  return sums_products(node) ||
         is_one_of(node.op->type(), {"AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum"});
}

// Whether the node's constants are data that engines store and fold, rather than scales of a Resize or
// bounds.
bool has_weights(const Node& node) {
  return sums_products(node) ||
         is_one_of(node.op->type(), {"PRelu", "Add", "Sub", "Mul", "Div", "LayerNormalization"});
}

// Whether results are copies of what was rounded already.
bool moves_elements(const Node& node) {
  return is_one_of(node.op->type(), {"Concat", "DepthToSpace", "Flatten", "Gather", "Identity", "MaxPool",
                                     "Pad", "PickChannels", "Reshape", "Slice", "SpaceToDepth", "Split",
                                     "Squeeze", "StackFrames", "Transpose", "Unsqueeze"});
}

template <typename Op>
std::optional<Activation> split_from(std::shared_ptr<const Operator>& op) {
  const auto* typed = dynamic_cast<const Op*>(op.get());
  if (typed == nullptr) return std::nullopt;
  auto copy = std::make_shared<Op>(*typed);
  copy->activation = {};
  const Activation activation = typed->activation;
  op = std::move(copy);
  return activation;
}

// The node without the activation that is fused into it, and that activation: sums are rounded before it.
std::pair<Node, Activation> without_activation(Node node) {
  std::optional<Activation> activation = split_from<Conv>(node.op);
  if (!activation) activation = split_from<ConvTranspose>(node.op);
  if (!activation) activation = split_from<Gemm>(node.op);
  return {std::move(node), activation.value_or(Activation{})};
}

HostTensor magnitude(HostTensor tensor) {
  if (tensor.dtype() == DType::f64)
    for (double& element : tensor.mutable_as<double>()) element = std::fabs(element);
  return tensor;
}

// Evaluates a widened graph; `evaluate_node(index, arguments)` gives the results of each node.
using EvaluateNode = std::function<std::vector<HostTensor>(size_t, std::span<const HostTensor* const>)>;

std::vector<HostTensor> evaluate_nodes(const Graph& graph, std::span<const HostTensor> inputs,
                                       const EvaluateNode& evaluate_node) {
  std::vector<HostTensor> tensors(graph.values.size());
  std::vector<size_t> last_use(graph.values.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].inputs)
      if (id != kNoValue) last_use[id] = i;
  for (const ValueId id : graph.outputs) last_use[id] = graph.nodes.size();
  for (size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].constant) tensors[i] = *graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs[i]] = inputs[i];
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::vector<const HostTensor*> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kNoValue ? nullptr : &tensors[id]);
    std::vector<HostTensor> results = evaluate_node(i, arguments);
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] != kNoValue)
        tensors[node.outputs[k]] = widened(results[k]);  // a Cast names its type
    for (const ValueId id : node.inputs)
      if (id != kNoValue && last_use[id] == i) tensors[id] = {};
  }
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(tensors[id]);
  return outputs;
}

// Random roundings of one engine.
class Rounder {
 public:
  Rounder(Rounding rounding, uint32_t seed)
      : halves_(rounding != Rounding::fp32),
        stored_(std::ldexp(1.0, halves_ ? -11 : -24)),
        summed_(std::ldexp(1.0, rounding == Rounding::halves ? -11 : -24)),
        state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  void round_sums(HostTensor& tensor, const HostTensor& magnitudes) {
    const auto magnitude = magnitudes.as<double>();
    const auto elements = tensor.mutable_as<double>();
    for (size_t i = 0; i < elements.size(); ++i) elements[i] += summed_ * magnitude[i] * next();
  }

  // Halves have a least step and a largest value.
  void store(HostTensor& tensor) {
    if (tensor.dtype() != DType::f64) return;
    for (double& element : tensor.mutable_as<double>()) {
      element += std::max(stored_ * std::fabs(element), halves_ ? 0x1p-25 : 0.0) * next();
      if (halves_ && std::fabs(element) >= 65520) element = std::copysign(HUGE_VAL, element);
    }
  }

 private:
  // Uniform in [-1, 1), the same everywhere: Knuth's MMIX linear congruential generator.
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31;
  }

  bool halves_;
  double stored_, summed_;  // unit roundoffs
  uint64_t state_;
};

}  // namespace

RoundingStudy::RoundingStudy(Graph graph, std::span<const HostTensor> inputs)
    : graph_(widened(std::move(graph))), magnitudes_(graph_.nodes.size()) {
  for (const HostTensor& input : inputs) inputs_.push_back(widened(input));
  exact_ = evaluate_nodes(graph_, inputs_, [&](size_t index, std::span<const HostTensor* const> arguments) {
    const Node& node = graph_.nodes[index];
    if (sums(node)) {
      std::vector<HostTensor> positive(arguments.size());
      std::vector<const HostTensor*> pointers(arguments.size(), nullptr);
      for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == nullptr) continue;
        positive[i] = magnitude(*arguments[i]);
        pointers[i] = &positive[i];
      }
      magnitudes_[index] = cast(evaluate(without_activation(node).first, pointers)[0], DType::f64);
    }
    return evaluate(node, arguments);
  });
}

std::vector<HostTensor> RoundingStudy::rounded(Rounding rounding, uint32_t seed) const {
  Rounder rounder(rounding, seed);
  Graph graph = graph_;
  std::vector<bool> stored(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size() && has_weights(node); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || !graph.values[id].constant || stored[id]) continue;
      rounder.store(*graph.values[id].constant);
      stored[id] = true;
    }
  }
  std::vector<HostTensor> inputs = inputs_;
  if (rounding != Rounding::fp32)
    for (HostTensor& input : inputs) rounder.store(input);
  return evaluate_nodes(graph, inputs, [&](size_t index, std::span<const HostTensor* const> arguments) {
    const auto [node, activation] = without_activation(graph.nodes[index]);
    std::vector<HostTensor> results = evaluate(node, arguments);
    if (magnitudes_[index].elements() > 0) rounder.round_sums(results[0], magnitudes_[index]);
    if (activation)
      for (double& element : results[0].mutable_as<double>()) element = apply_in_double(activation, element);
    if (!moves_elements(node))
      for (HostTensor& result : results) rounder.store(result);
    return results;
  });
}

RoundingStudy rounding_study(const FetchedModel& model) {
  Graph graph = import_model(model.model());
  const HostTensor input = model.input();
  for (ValueId& output : graph.outputs) {
    const auto suppressed = model.suppressed.find(graph.values[output].name);
    if (suppressed != model.suppressed.end()) output = graph.find_value(suppressed->second.of).value();
  }
  const std::string input_name = graph.values[graph.inputs.at(0)].name;
  const std::vector<std::string> disabled{"fuse_squeeze_excite", "fuse_attention"};
  return RoundingStudy(optimise(std::move(graph), {{input_name, input.shape()}}, disabled),
                       std::array{input});
}

std::map<std::string, Distance> rounding_spread(const FetchedModel& model, const RoundingStudy& study,
                                                Rounding rounding) {
  constexpr uint32_t variants = 8;
  const Graph imported = import_model(model.model());
  std::map<std::string, Distance> spread;
  const auto include = [&](const std::string& name, const HostTensor& got, const HostTensor& exact) {
    const Distance found = distance_between(got, exact);
    Distance& worst = spread[name];
    worst.largest = std::max(worst.largest, found.largest);
    worst.root_mean_square = std::max(worst.root_mean_square, found.root_mean_square);
  };
  for (uint32_t variant = 1; variant <= variants; ++variant) {
    const std::vector<HostTensor> outputs = study.rounded(rounding, variant);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = imported.values[imported.outputs[i]].name;
      include(name, outputs[i], study.exact()[i]);
      if (!model.suppressed.contains(name)) continue;
      const int64_t window = model.suppressed.at(name).window;
      include(margin_name(name), margins(outputs[i], window), margins(study.exact()[i], window));
    }
  }
  return spread;
}

}  // namespace vellum::test
