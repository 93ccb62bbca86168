#include "quantize/insert.hpp"

#include <algorithm>
#include <array>

#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "quantize/weights.hpp"

namespace vellum::quantization {
namespace {

constexpr int kBits = 8;
constexpr size_t kBias = 2;

HostTensor floats_of(const std::vector<float>& values) {
  return HostTensor::f32({static_cast<int64_t>(values.size())}, values);
}

// Adds quantisation to the nodes of a graph that is being edited.
class Rounder {
 public:
  Rounder(GraphEditor& editor, const Assignment& assignment) : editor_(editor), assignment_(assignment) {}

  // Adds the two nodes that round `value` with these parameters, and returns the rounded value, of which all
  // nodes that are there read if `replaces` is set.
  ValueId round(ValueId value, const Parameters& parameters, bool replaces) {
    const std::string name = editor_.graph().values[value].name;
    const TensorType type = editor_.type(value);
    const DType dtype = assignment_.signed_activations ? DType::i8 : DType::u8;
    const ValueId scale =
        editor_.add_constant(name + "/scale", HostTensor::f32({}, std::array{parameters.scale}));
    const ValueId zero = editor_.add_constant(
        name + "/zero_point", HostTensor::from<int64_t>(dtype, {}, std::array{parameters.zero_point}));
    const ValueId integers = editor_.add_value(name + "/quantized", TensorType{dtype, type.shape});
    const ValueId rounded = editor_.add_value(name + "/dequantized", type);
    if (replaces) editor_.replace_reads(value, rounded);
    auto quantize = std::make_shared<QuantizeLinear>();
    quantize->axis = 0;
    auto dequantize = std::make_shared<DequantizeLinear>();
    dequantize->axis = 0;
    const Node first{name + "/quantize", std::move(quantize), {value, scale, zero}, {integers}};
    const Node second{name + "/dequantize", std::move(dequantize), {integers, scale, zero}, {rounded}};
    if (const auto producer = editor_.producer(value))
      editor_.insert_after(editor_.insert_after(*producer, first), second);
    else
      editor_.insert_after(editor_.insert_before(*editor_.nodes().begin(), first), second);
    return rounded;
  }

  // Returns the inputs of a layer with its weights and biases as integers, computed before node `index`.
  // `input`: its first input, rounded with these parameters.
  std::vector<ValueId> layer_inputs(size_t index, ValueId input, const Parameters& parameters) {
    const Node node = editor_.node(index);
    const std::string layer = layer_name(editor_.graph(), node);
    const HostTensor floats = *editor_.constant(node.inputs[1]);
    IntegerWeights weights = integer_weights(floats, channel_axis(node), kBits);
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = input;
    if (const auto bias = bias_of(node, layer, weights.scales.size()); bias && has_plain_bias(node)) {
      fit_biases(weights, floats, *bias, parameters.scale, kBits);
      std::vector<float> steps;
      for (int64_t m = 0; m < bias->elements(); ++m)
        steps.push_back(parameters.scale * weights.scales[static_cast<size_t>(m) % weights.scales.size()]);
      inputs.resize(std::max(inputs.size(), kBias + 1), kNoValue);
      inputs[kBias] = dequantized(index, layer + "/bias", integer_biases(*bias, steps), floats_of(steps), 0);
    }
    inputs[1] = dequantized(index, layer + "/weights", weights.integers, floats_of(weights.scales),
                            static_cast<int64_t>(weights.axis));
    return inputs;
  }

 private:
  // Adds the DequantizeLinear of a constant before node `index`.
  ValueId dequantized(size_t index, const std::string& name, const HostTensor& integers,
                      const HostTensor& scales, int64_t axis) {
    auto op = std::make_shared<DequantizeLinear>();
    op->axis = axis;
    const ValueId constant = editor_.add_constant(name + "/quantized", integers);
    const ValueId scale = editor_.add_constant(name + "/scale", scales);
    return editor_.compute_before(index, name + "/dequantized", std::move(op), {constant, scale},
                                  {DType::f32, integers.shape()});
  }

  // Whether the biases are added to the products as they are, one for each channel.
  bool has_plain_bias(const Node& node) const {
    if (dynamic_cast<const MatMul*>(node.op.get())) return false;
    const auto* gemm = dynamic_cast<const Gemm*>(node.op.get());
    return gemm == nullptr || (gemm->alpha == 1.0f && gemm->beta == 1.0f);
  }

  std::optional<HostTensor> bias_of(const Node& node, const std::string& layer, size_t scales) const {
    const HostTensor* given = node.inputs.size() > kBias && node.inputs[kBias] != kNoValue
                                  ? editor_.constant(node.inputs[kBias])
                                  : nullptr;
    const auto correction = assignment_.bias_corrections.find(layer);
    if (given == nullptr && correction == assignment_.bias_corrections.end()) return std::nullopt;
    if (given == nullptr) return correction->second;
    if (given->shape().size() != 1 || given->elements() % static_cast<int64_t>(scales) != 0)
      return std::nullopt;
    HostTensor sum = *given;
    if (correction == assignment_.bias_corrections.end() || correction->second.elements() != sum.elements())
      return sum;
    const auto added = correction->second.as<float>();
    const auto values = sum.mutable_as<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] += added[i];
    return sum;
  }

  GraphEditor& editor_;
  const Assignment& assignment_;
};

std::vector<size_t> integer_nodes(const Graph& graph, const Assignment& assignment) {
  std::vector<size_t> result;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (takes_integers(graph, graph.nodes[i]) &&
        !assignment.in_floats.contains(layer_name(graph, graph.nodes[i])))
      result.push_back(i);
  return result;
}

}  // namespace

Graph quantized_graph(const Graph& floats, const Assignment& assignment) {
  const RoundedValues rounded = rounded_values(floats, assignment.in_floats);
  Graph graph = floats;
  GraphEditor editor(graph);
  Rounder rounder(editor, assignment);
  for (const size_t index : integer_nodes(floats, assignment)) {
    const Node& node = floats.nodes[index];
    if (!has_weights(floats, node)) continue;
    const Parameters& parameters = assignment.parameters.at(rounded.parameters_of[node.inputs[0]]);
    editor.set_inputs(index, rounder.layer_inputs(index, node.inputs[0], parameters));
  }
  for (const ValueId value : rounded.values)
    rounder.round(value, assignment.parameters.at(rounded.parameters_of[value]), true);
  editor.commit();
  check(graph);
  return graph;
}

LayerErrorGraph own_errors_graph(const Graph& floats, const Assignment& assignment) {
  const RoundedValues rounded = rounded_values(floats, assignment.in_floats);
  LayerErrorGraph result{floats, {}};
  GraphEditor editor(result.graph);
  Rounder rounder(editor, assignment);
  std::map<ValueId, ValueId> rounded_value;
  for (const ValueId value : rounded.values)
    rounded_value[value] =
        rounder.round(value, assignment.parameters.at(rounded.parameters_of[value]), false);
  for (const size_t index : integer_nodes(floats, assignment)) {
    Node node = floats.nodes[index];
    const ValueId output = node.outputs[0];
    if (has_weights(floats, node)) {
      const Parameters& parameters = assignment.parameters.at(rounded.parameters_of[node.inputs[0]]);
      node.inputs = rounder.layer_inputs(index, rounded_value.at(node.inputs[0]), parameters);
    } else {
      for (ValueId& input : node.inputs)
        if (const auto found = rounded_value.find(input); found != rounded_value.end()) input = found->second;
    }
    const ValueId own = editor.add_value(floats.values[output].name + "/own", floats.values[output].type);
    node.outputs = {own};
    node.name += "/own";
    editor.insert_after(index, node);
    result.outputs.emplace_back(output, own);
  }
  editor.commit();
  for (const auto& [value, own] : result.outputs)
    for (const ValueId id : {value, own})
      if (std::ranges::count(result.graph.outputs, id) == 0) result.graph.outputs.push_back(id);
  check(result.graph);
  return result;
}

Graph weights_only_graph(const Graph& floats, int bits, std::set<ValueId>& four_bits) {
  constexpr int64_t kBlock = 32;
  Graph graph = floats;
  GraphEditor editor(graph);
  for (size_t index = 0; index < floats.nodes.size(); ++index) {
    const Node& node = floats.nodes[index];
    if (!has_weights(floats, node)) continue;
    const std::string name = layer_name(floats, node) + "/weights";
    const HostTensor weights = *floats.constant(node.inputs[1]);
    const size_t channels = channel_axis(node);
    Attributes attributes;
    HostTensor integers, scales;
    // Matrices have blocks along the sum, convolutions a scale for each output channel.
    if (bits == 4 && weights.shape().size() == 2) {
      const size_t along = 1 - channels;
      BlockedWeights blocked = blocked_weights(weights, along, kBlock);
      integers = std::move(blocked.integers);
      scales = std::move(blocked.scales);
      attributes.set("axis", static_cast<int64_t>(along));
      attributes.set("block_size", kBlock);
    } else {
      IntegerWeights whole = integer_weights(weights, channels, bits);
      integers = std::move(whole.integers);
      scales = floats_of(whole.scales);
      attributes.set("axis", static_cast<int64_t>(channels));
    }
    constexpr int kOpset = 21;
    NodeSpec spec{.type = "DequantizeLinear", .name = name, .opset = kOpset, .attributes = &attributes};
    spec.input_present = {true, true};
    const ValueId constant = editor.add_constant(name + "/quantized", integers);
    const ValueId scale = editor.add_constant(name + "/scale", scales);
    if (bits == 4) four_bits.insert(constant);
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = editor.compute_before(index, name + "/dequantized", make_operator(spec), {constant, scale},
                                      {DType::f32, weights.shape()});
    editor.set_inputs(index, std::move(inputs));
  }
  editor.commit();
  check(graph);
  return graph;
}

}  // namespace vellum::quantization
