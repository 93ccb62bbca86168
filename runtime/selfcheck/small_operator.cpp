#include "selfcheck/small_operator.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "graph/operators/elementwise/unary.hpp"

namespace vellum {
namespace {

constexpr int kOpset = 23;

// In [-1, 1], of a linear congruential generator (Numerical Recipes, "Quick and Dirty Generators").
HostTensor values(Shape shape, uint32_t seed) {
  HostTensor tensor(DType::f32, std::move(shape));
  uint32_t state = seed;
  for (float& value : tensor.mutable_as<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1u << 23) - 1.0f;
  }
  return tensor;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

namespace selfcheck {

Operand computed(Shape shape, uint32_t seed) { return {values(std::move(shape), seed), false}; }
Operand weights(Shape shape, uint32_t seed) { return {values(std::move(shape), seed), true}; }
Operand number(float value) { return {HostTensor::f32({}, std::vector<float>{value}), true}; }
Operand positive(Shape shape, uint32_t seed) {
  Operand operand = computed(std::move(shape), seed);
  for (float& value : operand.tensor.mutable_as<float>()) value = 0.25f + std::abs(value);
  return operand;
}
Operand steps(Shape shape) {
  Operand operand = computed(std::move(shape));
  int i = 0;
  for (float& value : operand.tensor.mutable_as<float>()) value = static_cast<float>(++i * 7 % 31) / 16.0f;
  return operand;
}
Operand masked(Shape shape, uint32_t seed) {
  Operand operand = computed(std::move(shape), seed);
  const std::span<float> elements = operand.tensor.mutable_as<float>();
  for (size_t i = 0; i < elements.size(); i += 5) elements[i] = -kInfinity;
  return operand;
}
Operand with_large(Shape shape, float large) {
  Operand operand = computed(std::move(shape));
  const std::span<float> elements = operand.tensor.mutable_as<float>();
  for (size_t i = 0; i < elements.size(); i += 7) elements[i] = i % 2 == 0 ? large : -large;
  return operand;
}
Operand with_nan(Shape shape) {
  Operand operand = computed(std::move(shape));
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
  const std::span<float> elements = operand.tensor.mutable_as<float>();
  for (size_t i = 0; i < elements.size(); i += 4) elements[i] = kSpecial[i / 4 % std::size(kSpecial)];
  return operand;
}
std::pair<Operand, Operand> multiples(const Shape& shape) {
  Operand dividends = computed(shape), divisors = computed(shape);
  const std::span<float> a = dividends.tensor.mutable_as<float>(), b = divisors.tensor.mutable_as<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    b[i] = static_cast<float>(i * 7 % 50 + 1);
    a[i] = b[i] * static_cast<float>(i * 3 % 40);
  }
  return {std::move(dividends), std::move(divisors)};
}
Operand small_integers(const Shape& shape, int64_t seed) {
  std::vector<int64_t> elements(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = (static_cast<int64_t>(i) * (seed + 4) + seed) % 7 - 3;
  return {HostTensor::i64(shape, elements), false};
}
Operand as_constant(Operand operand) {
  operand.constant = true;
  return operand;
}
Operand integers(const std::vector<int64_t>& elements) {
  return {HostTensor::i64({static_cast<int64_t>(elements.size())}, elements), true};
}

void append_node(Graph& graph, const std::string& type, std::vector<ValueId> inputs,
                 const Attributes& attributes, ValueId output) {
  std::string name = type + std::to_string(graph.nodes.size());
  auto op = make_operator({.type = type,
                           .name = name,
                           .opset = kOpset,
                           .attributes = &attributes,
                           .input_present = std::vector<bool>(inputs.size(), true)});
  graph.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {output}});
}

void round_input(Graph& graph, size_t i, float step) {
  auto rounding = std::make_shared<Unary>();
  rounding->activation = {.step = step, .least = -128, .most = 127};
  ValueId& input = graph.nodes.back().inputs[i];
  const ValueId rounded = graph.add_value("rounded_" + std::to_string(i));
  graph.values[rounded].type = graph.values[input].type;
  graph.values[rounded].type_known = true;
  Node round{"FakeQuantize", std::move(rounding), {std::exchange(input, rounded)}, {rounded}};
  graph.nodes.insert(graph.nodes.end() - 1, std::move(round));
}

}  // namespace selfcheck

using selfcheck::Operand;

SmallOperator small_operator(std::string name, const std::string& type, std::vector<Operand> operands,
                             std::shared_ptr<const Operator> op) {
  SmallOperator made{std::move(name), {}, {}, {}};
  Node node{type, std::move(op), {}, {}};
  for (Operand& operand : operands) {
    const std::string input = "input" + std::to_string(node.inputs.size());
    if (operand.constant) {
      node.inputs.push_back(made.graph.add_constant(input, std::move(operand.tensor)));
    } else {
      node.inputs.push_back(made.graph.add_value(input, operand.tensor.type(), true));
      made.graph.inputs.push_back(node.inputs.back());
      made.inputs.push_back(std::move(operand.tensor));
    }
  }
  node.outputs = {made.graph.add_value("output")};
  made.graph.outputs = node.outputs;
  made.graph.nodes.push_back(std::move(node));
  return made;
}

SmallOperator small_operator(std::string name, const std::string& type, std::vector<Operand> operands,
                             AttributePairs attribute_values) {
  Attributes attributes;
  for (const auto& [key, value] : attribute_values) attributes.set(key, value);
  auto op = make_operator({.type = type,
                           .name = type,
                           .opset = kOpset,
                           .attributes = &attributes,
                           .input_present = std::vector<bool>(operands.size(), true)});
  return small_operator(std::move(name), type, std::move(operands), std::move(op));
}

}  // namespace vellum
