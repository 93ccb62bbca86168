#include "graph/composed.hpp"

#include <algorithm>
#include <utility>

#include "graph/node_spec.hpp"
#include "graph/onnx_types.hpp"
#include "graph/operators/movement/reshape.hpp"

namespace vellum {
namespace {

constexpr int kOpset = 17;  // the operator set that add() takes names from

}  // namespace

Body::Body(Inputs inputs) : rule_inputs_(inputs.begin(), inputs.end()) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) {
      inputs_.push_back(kNoValue);
      continue;
    }
    const std::string name = "input " + std::to_string(i);
    if (inputs[i].constant) {
      inputs_.push_back(graph_.add_constant(name, *inputs[i].constant));
      continue;
    }
    inputs_.push_back(graph_.add_value(name, inputs[i].type, true));
    graph_.inputs.push_back(inputs_.back());
  }
}

ValueId Body::input(size_t i, std::string_view what) const {
  input_type(rule_inputs_, i, what);
  return inputs_[i];
}

ValueId Body::constant(HostTensor tensor) {
  return graph_.add_constant("constant " + std::to_string(graph_.values.size()), std::move(tensor));
}

size_t Body::table_size(const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 26;
  const int64_t elements = checked_element_count(shape);
  if (elements > kMost)
    refuse_unsupported("a table of " + to_string(shape) + " elements, more than " + std::to_string(kMost));
  return static_cast<size_t>(elements);
}

ValueId Body::scalar(DType dtype, double value) {
  return constant(HostTensor::from<double>(dtype, {}, std::array{value}));
}

ValueId Body::ints(const Ints& values) {
  return constant(HostTensor::i64({static_cast<int64_t>(values.size())}, values));
}

std::vector<ValueId> Body::add_several(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                                       size_t outputs) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs.assign(outputs, kNoValue);
  const std::vector<TensorType> types = infer(graph_, node);
  for (size_t i = 0; i < outputs; ++i)
    node.outputs[i] = graph_.add_value("value " + std::to_string(graph_.values.size()), types[i], true);
  graph_.nodes.push_back(node);
  return node.outputs;
}

std::vector<ValueId> Body::add_several(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                       AttributeList attributes) {
  Attributes operator_attributes;
  for (const auto& [name, value] : attributes) operator_attributes.set(name, value);
  auto op = make_operator(spec_of(std::string(type), {}, kOpset, operator_attributes, inputs, outputs));
  return add_several(std::move(op), std::move(inputs), outputs);
}

ValueId Body::add(std::string_view type, std::vector<ValueId> inputs, AttributeList attributes) {
  return add_several(type, std::move(inputs), 1, attributes)[0];
}

ValueId Body::add(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
  return add_several(std::move(op), std::move(inputs), 1)[0];
}

ValueId Body::reshape(ValueId value, const Shape& shape) {
  if (this->shape(value) == shape) return value;
  return add("Reshape", {value, ints(shape)}, {{"allowzero", int64_t{1}}});
}

ValueId Body::transpose(ValueId value, const Ints& order) {
  return add("Transpose", {value}, {{"perm", order}});
}

ValueId Body::slice(ValueId value, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return add("Slice", {value, ints({begin}), ints({end}), ints({axis}), ints({step})});
}

ValueId Body::cast(ValueId value, DType dtype) {
  if (type(value).dtype == dtype) return value;
  return add("Cast", {value}, {{"to", dtype_to_onnx(dtype)}});
}

Composed::Composed(const NodeSpec& spec, Compose how)
    : onnx_type(spec.type), onnx_attributes(*spec.attributes), compose(std::move(how)) {}

Body Composed::body(Inputs inputs) const {
  Body body(inputs);
  compose(body);
  return body;
}

std::vector<TensorType> Composed::infer(Inputs inputs) const {
  const Body built = body(inputs);
  std::vector<TensorType> types;
  for (const ValueId id : built.graph().outputs) types.push_back(built.type(id));
  return types;
}

std::vector<HostTensor> Composed::evaluate(HostInputs inputs) const {
  return vellum::evaluate(body(known_inputs(inputs)).graph(), {});
}

namespace {

uint64_t sum_over_nodes(const Graph& graph, uint64_t (*count)(const Operator&, Inputs, Outputs)) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    std::vector<TensorType> outputs;
    for (const ValueId id : node.outputs) outputs.push_back(graph.values[id].type);
    sum = saturating_add(sum, count(*node.op, operator_inputs(graph, node), outputs));
  }
  return sum;
}

}  // namespace

uint64_t Composed::work(Inputs inputs, Outputs) const {
  return sum_over_nodes(body(inputs).graph(),
                        [](const Operator& op, Inputs in, Outputs out) { return op.work(in, out); });
}

uint64_t Composed::macs(Inputs inputs) const {
  return sum_over_nodes(body(inputs).graph(),
                        [](const Operator& op, Inputs in, Outputs) { return op.macs(in); });
}

std::shared_ptr<const Operator> composed(const NodeSpec& spec, Composed::Compose compose) {
  return std::make_shared<Composed>(spec, std::move(compose));
}

}  // namespace vellum
